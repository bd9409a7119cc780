"""A host's raw counters → the columns of vmstat and iostat."""
