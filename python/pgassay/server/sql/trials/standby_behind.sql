-- The standby that is furthest behind in replay: its name, and by how many seconds.
SELECT coalesce(application_name, '?'), extract(epoch FROM replay_lag)::float8
  FROM pg_catalog.pg_stat_replication
 WHERE replay_lag IS NOT NULL
 ORDER BY replay_lag DESC
 LIMIT 1
