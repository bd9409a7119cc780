-- How far a standby is behind, as it sees it itself. On a primary there is no row.
-- Floor 13. All are present numbers, and NULL where they are not known; greatest() alone would make
--   0 of that.
--   receive_behind_bytes: of the WAL that its sender has, by the sender's last word, not received;
--     unknown without a receiver, or before that word;
--   replay_behind_bytes: received and not replayed yet; unknown where nothing was received since the
--     start, or where an archive has brought more than was received;
--   replay_lag_ms: 0 where all that the sender has is replayed, else the age of the last commit that
--     was replayed, by the primary's clock then and this server's now: an upper bound, the closer the
--     more often the primary commits; unknown before the first one;
--   silent_ms: since the sender was heard last; unknown without a receiver.
--   *_known: 1 where the figure is.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it what the sender has is hidden, and
--   replay_lag_ms goes by what was received.
SELECT
    b.receivers,
    b.receive_behind_bytes,
    b.replay_behind_bytes,
    b.replay_lag_ms,
    b.silent_ms,
    b.paused,
    (b.receive_behind_bytes IS NOT NULL)::pg_catalog.int4::pg_catalog.int8 AS receive_known,
    (b.replay_behind_bytes IS NOT NULL)::pg_catalog.int4::pg_catalog.int8 AS replay_known,
    (b.replay_lag_ms IS NOT NULL)::pg_catalog.int4::pg_catalog.int8 AS lag_known
FROM (
    SELECT
        w.receivers::pg_catalog.int8 AS receivers,
        CASE
            WHEN w.sender_lsn >= r.received THEN pg_catalog.pg_wal_lsn_diff(w.sender_lsn, r.received)
            WHEN w.sender_lsn < r.received THEN 0
        END::pg_catalog.int8 AS receive_behind_bytes,
        CASE
            WHEN r.received >= r.replayed THEN pg_catalog.pg_wal_lsn_diff(r.received, r.replayed)
            -- Asked for one after the other; without a receiver it is an archive that is ahead.
            WHEN r.received < r.replayed AND w.receivers > 0 THEN 0
        END::pg_catalog.int8 AS replay_behind_bytes,
        CASE
            WHEN w.receivers > 0 AND r.replayed >= coalesce(w.sender_lsn, r.received) THEN 0
            WHEN r.committed IS NOT NULL
                THEN greatest(extract(epoch FROM r.now - r.committed) * 1000, 0)
        END::pg_catalog.float8 AS replay_lag_ms,
        CASE
            WHEN w.heard IS NOT NULL THEN greatest(extract(epoch FROM r.now - w.heard) * 1000, 0)
        END::pg_catalog.float8 AS silent_ms,
        r.paused::pg_catalog.int8 AS paused
    FROM (
        SELECT
            c.now,
            pg_catalog.pg_last_wal_receive_lsn() AS received,
            pg_catalog.pg_last_wal_replay_lsn() AS replayed,
            pg_catalog.pg_last_xact_replay_timestamp() AS committed,
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
) AS b
