-- What this database has done since its statistics were last reset.
SELECT d.xact_commit, d.xact_rollback, d.blks_hit, d.blks_read, d.stats_reset::text
  FROM pg_stat_database AS d
 WHERE d.datname = current_database()
