-- pgbench's tables that the search path finds, and what is said of each.
SELECT name, to_regclass(name)::text, obj_description(to_regclass(name), 'pg_class'), relkind
FROM unnest(ARRAY['pgbench_accounts', 'pgbench_branches', 'pgbench_history', 'pgbench_tellers'])
     AS name
JOIN pg_catalog.pg_class ON pg_class.oid = to_regclass(name)
