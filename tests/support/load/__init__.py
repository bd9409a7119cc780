"""Scripts and workloads that the load engine must run."""
