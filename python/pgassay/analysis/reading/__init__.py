"""Stored trials → values and series."""
