-- How far a standby is behind, as it sees it itself. On a primary there is no row.
-- Floor 13. All are present numbers.
--   receive_behind_bytes: of the WAL that its sender has, by the sender's last word, not received;
--   replay_behind_bytes: received and not replayed yet;
--   replay_lag_ms: 0 where all that the sender has is replayed, else the age of the last commit that
--   was replayed, by the primary's clock then and this server's now: an upper bound, the closer the
--   more often the primary commits;
--   silent_ms: since the sender was heard last.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it what the sender has is hidden, and
--   replay_lag_ms goes by what was received.
SELECT
    w.receivers::pg_catalog.int8 AS receivers,
    greatest(pg_catalog.pg_wal_lsn_diff(w.sender_lsn, r.received), 0)::pg_catalog.int8
        AS receive_behind_bytes,
    greatest(pg_catalog.pg_wal_lsn_diff(r.received, r.replayed), 0)::pg_catalog.int8
        AS replay_behind_bytes,
    CASE WHEN w.receivers > 0 AND r.replayed >= coalesce(w.sender_lsn, r.received) THEN 0
         ELSE r.age_ms END::pg_catalog.float8 AS replay_lag_ms,
    greatest(extract(epoch FROM r.now - w.heard) * 1000, 0)::pg_catalog.float8 AS silent_ms,
    r.paused::pg_catalog.int8 AS paused
FROM (
    SELECT
        c.now,
        pg_catalog.pg_last_wal_receive_lsn() AS received,
        pg_catalog.pg_last_wal_replay_lsn() AS replayed,
        greatest(
            extract(epoch FROM c.now - pg_catalog.pg_last_xact_replay_timestamp()) * 1000, 0
        ) AS age_ms,
        -- Outside of recovery it is an error to ask.
        CASE WHEN pg_catalog.pg_is_in_recovery()
             THEN pg_catalog.pg_is_wal_replay_paused()::pg_catalog.int4 END AS paused
    FROM (SELECT pg_catalog.clock_timestamp() AS now) AS c
) AS r
CROSS JOIN (
    SELECT
        count(*) AS receivers,
        max(s.latest_end_lsn) AS sender_lsn,
        max(s.last_msg_receipt_time) AS heard
    FROM pg_catalog.pg_stat_wal_receiver AS s
) AS w
WHERE pg_catalog.pg_is_in_recovery()
