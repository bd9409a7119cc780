-- How far the write-ahead log has got, in bytes since its beginning.
-- Floor 13. Finer than pg_stat_wal, which backends update about once a second. A standby inserts
--   nothing: insert_bytes is NULL there, and replay_bytes is NULL on a primary.
-- Privileges: none.
SELECT
    CASE WHEN NOT r.in_recovery THEN
        pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')
    END::pg_catalog.int8 AS insert_bytes,
    CASE WHEN r.in_recovery THEN
        pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_replay_lsn(), '0/0')
    END::pg_catalog.int8 AS replay_bytes
FROM (SELECT pg_catalog.pg_is_in_recovery() AS in_recovery) AS r
