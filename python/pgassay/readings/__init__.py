"""Everything that is taken from the stored trials of a run, each of which is read once."""
