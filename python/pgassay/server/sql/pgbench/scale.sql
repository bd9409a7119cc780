-- The scale of pgbench's tables, as pgbench itself finds it.
SELECT count(*) FROM pgbench_branches
