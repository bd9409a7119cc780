-- The tables that a workload has made, in any schema of its own.
SELECT n.nspname, c.relname
  FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
   AND NOT c.relispartition
   AND n.nspname !~ '^pg_'
   AND n.nspname <> 'information_schema'
 ORDER BY 1, 2
