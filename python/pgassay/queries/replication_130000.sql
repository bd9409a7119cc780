-- How far each standby is behind, in bytes and in time, as the primary sees it.
-- Floor 13. All are present numbers. Lags in time are NULL while a standby is idle and caught up.
--   On a standby that feeds others, behind is counted from what it has replayed.
-- Two of one name at one address (walreceiver, pg_receivewal) are told apart by a number, the one
--   that connected first having none.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it nothing but names is visible.
SELECT
    r.application_name::pg_catalog.text
        || CASE WHEN r.place > 1 THEN ' #' || r.place ELSE '' END AS application_name,
    r.client_addr::pg_catalog.text AS client_addr,
    r.sync_state::pg_catalog.text AS sync_state,
    pg_catalog.pg_wal_lsn_diff(n.lsn, r.sent_lsn)::pg_catalog.int8 AS sent_behind_bytes,
    pg_catalog.pg_wal_lsn_diff(n.lsn, r.write_lsn)::pg_catalog.int8 AS write_behind_bytes,
    pg_catalog.pg_wal_lsn_diff(n.lsn, r.flush_lsn)::pg_catalog.int8 AS flush_behind_bytes,
    pg_catalog.pg_wal_lsn_diff(n.lsn, r.replay_lsn)::pg_catalog.int8 AS replay_behind_bytes,
    (extract(epoch FROM r.write_lag) * 1000)::pg_catalog.float8 AS write_lag_ms,
    (extract(epoch FROM r.flush_lag) * 1000)::pg_catalog.float8 AS flush_lag_ms,
    (extract(epoch FROM r.replay_lag) * 1000)::pg_catalog.float8 AS replay_lag_ms
FROM (
    SELECT s.*, pg_catalog.row_number() OVER (
        PARTITION BY s.application_name, s.client_addr, s.sync_state ORDER BY s.backend_start, s.pid
    ) AS place
    FROM pg_catalog.pg_stat_replication AS s
) AS r
CROSS JOIN (
    SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
                ELSE pg_catalog.pg_current_wal_lsn() END AS lsn
) AS n
