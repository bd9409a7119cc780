-- Counters of this database and of the whole server back to zero; of an owned server only.
SELECT pg_catalog.pg_stat_reset(), pg_catalog.pg_stat_reset_shared(target)
  FROM (VALUES ('bgwriter', 130000), ('archiver', 130000), ('wal', 140000), ('io', 160000),
               ('checkpointer', 170000)) AS counters (target, since)
 WHERE since <= current_setting('server_version_num')::int
