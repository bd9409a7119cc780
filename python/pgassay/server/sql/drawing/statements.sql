-- What clients sent to this database since the statistics were last reset, by statement and role, without
-- texts. Statements within functions are left out where the server tells them apart (14 and later).
-- Privileges: pg_read_all_stats. Without it the statements of other roles have no queryid.
-- {extension}: the schema of pg_stat_statements, quoted.
SELECT s.queryid, s.userid::int8, s.calls, s.total_plan_time + s.total_exec_time, s.rows,
       s.shared_blks_hit, s.shared_blks_read, s.shared_blks_dirtied, s.wal_bytes::int8, s.plans
  FROM {extension}.pg_stat_statements(false) AS s
 WHERE s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
   AND coalesce((to_jsonb(s) ->> 'toplevel')::bool, true)
