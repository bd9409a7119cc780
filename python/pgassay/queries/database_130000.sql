-- Transactions, tuples, blocks and trouble in the database we are connected to.
-- Floor 13.
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
    d.blk_write_time::pg_catalog.float8 AS blk_write_time_ms
FROM pg_catalog.pg_stat_database AS d
WHERE d.datname = pg_catalog.current_database()
