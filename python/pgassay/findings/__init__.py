"""Findings: an analysis in sentences. A rule is a module, its limits and texts lie beside it."""
