"""Servers that pgassay did not start: what they are, and what a run changes on them."""
