-- What pgbench does before a run, one statement a line.
vacuum pgbench_branches;
vacuum pgbench_tellers;
truncate pgbench_history;
