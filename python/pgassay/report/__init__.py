"""Findings → HTML, Markdown, JSON. No statistics here."""
