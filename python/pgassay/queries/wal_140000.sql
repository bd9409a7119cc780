-- Write-ahead log produced and written, by the whole server.
-- Floor 14: pg_stat_wal is new. The two times stay 0 unless track_wal_io_timing is on.
-- Privileges: none.
SELECT
    w.wal_records::pg_catalog.int8 AS wal_records,
    w.wal_fpi::pg_catalog.int8 AS wal_fpi,
    w.wal_bytes::pg_catalog.int8 AS wal_bytes,
    w.wal_buffers_full::pg_catalog.int8 AS wal_buffers_full,
    w.wal_write::pg_catalog.int8 AS wal_write,
    w.wal_sync::pg_catalog.int8 AS wal_sync,
    w.wal_write_time::pg_catalog.float8 AS wal_write_time_ms,
    w.wal_sync_time::pg_catalog.float8 AS wal_sync_time_ms
FROM pg_catalog.pg_stat_wal AS w
