-- Transactions, tuples, blocks and trouble in the database we are connected to.
-- Floor 14: session times and numbers of sessions are new.
--   Block times stay 0 unless track_io_timing is on; checksum_failures is NULL without checksums.
--   numbackends is a present number, all others are counters.
-- Privileges: none.
SELECT
    d.numbackends::pg_catalog.int8 AS numbackends,
    d.xact_commit::pg_catalog.int8 AS xact_commit,
    d.xact_rollback::pg_catalog.int8 AS xact_rollback,
    d.blks_read::pg_catalog.int8 AS blks_read,
    d.blks_hit::pg_catalog.int8 AS blks_hit,
    d.tup_returned::pg_catalog.int8 AS tup_returned,
    d.tup_fetched::pg_catalog.int8 AS tup_fetched,
    d.tup_inserted::pg_catalog.int8 AS tup_inserted,
    d.tup_updated::pg_catalog.int8 AS tup_updated,
    d.tup_deleted::pg_catalog.int8 AS tup_deleted,
    d.conflicts::pg_catalog.int8 AS conflicts,
    d.temp_files::pg_catalog.int8 AS temp_files,
    d.temp_bytes::pg_catalog.int8 AS temp_bytes,
    d.deadlocks::pg_catalog.int8 AS deadlocks,
    d.checksum_failures::pg_catalog.int8 AS checksum_failures,
    d.blk_read_time::pg_catalog.float8 AS blk_read_time_ms,
    d.blk_write_time::pg_catalog.float8 AS blk_write_time_ms,
    d.session_time::pg_catalog.float8 AS session_time_ms,
    d.active_time::pg_catalog.float8 AS active_time_ms,
    d.idle_in_transaction_time::pg_catalog.float8 AS idle_in_transaction_time_ms,
    d.sessions::pg_catalog.int8 AS sessions,
    d.sessions_abandoned::pg_catalog.int8 AS sessions_abandoned,
    d.sessions_fatal::pg_catalog.int8 AS sessions_fatal,
    d.sessions_killed::pg_catalog.int8 AS sessions_killed
FROM pg_catalog.pg_stat_database AS d
WHERE d.datname = pg_catalog.current_database()
