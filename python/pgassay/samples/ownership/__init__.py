"""Whose a run directory is, which process works in it, and when it may be removed."""
