-- Write-ahead log produced, by the whole server.
-- Floor 18: writes, syncs and their times moved to pg_stat_io (object wal); the io query has them.
-- Privileges: none.
SELECT
    w.wal_records::pg_catalog.int8 AS wal_records,
    w.wal_fpi::pg_catalog.int8 AS wal_fpi,
    w.wal_bytes::pg_catalog.int8 AS wal_bytes,
    w.wal_buffers_full::pg_catalog.int8 AS wal_buffers_full
FROM pg_catalog.pg_stat_wal AS w
