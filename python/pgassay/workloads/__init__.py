"""Ready workloads, one folder each, and the tables of pgbench."""
