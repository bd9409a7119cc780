-- Names of standbys: how many have this one, and by how many seconds the last is behind in replay.
-- Not a base backup or an archive of WAL, which replay nothing.
SELECT coalesce(nullif(application_name, ''), '?'), count(*)::int,
       max(extract(epoch FROM replay_lag))::float8
  FROM pg_catalog.pg_stat_replication
 WHERE replay_lsn IS NOT NULL
 GROUP BY 1
