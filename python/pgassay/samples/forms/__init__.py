"""The JSON files of a run directory: one model for each, by which it is written and read."""
