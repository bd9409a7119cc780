"""Trials → files: schemas and the run directory, written after every trial."""
