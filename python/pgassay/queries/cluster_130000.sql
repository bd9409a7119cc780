-- Transactions, blocks and trouble in all databases together: busy sessions are sampled in all of
--   them, so what they did is counted in all of them too.
-- Floor 13. All are counters. Sessions report about once a second, and when they end.
-- Privileges: none.
SELECT
    sum(d.xact_commit)::pg_catalog.float8 AS xact_commit,
    sum(d.xact_rollback)::pg_catalog.float8 AS xact_rollback,
    sum(d.blks_read)::pg_catalog.float8 AS blks_read,
    sum(d.blks_hit)::pg_catalog.float8 AS blks_hit,
    sum(d.temp_files)::pg_catalog.float8 AS temp_files,
    sum(d.temp_bytes)::pg_catalog.float8 AS temp_bytes,
    sum(d.deadlocks)::pg_catalog.float8 AS deadlocks,
    sum(d.conflicts)::pg_catalog.float8 AS conflicts
FROM pg_catalog.pg_stat_database AS d
