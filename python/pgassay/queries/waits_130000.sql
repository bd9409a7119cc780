-- What every busy session and background process does or waits for, at this moment.
-- Floor 13: leader_pid is new. query_id comes with 14 and is NULL here.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it the sessions of other roles come with
--   nothing but their pid, which the sampler turns into a warning: silence would read as idleness.
--
-- A transaction is known by its start, which must be the same number each time: an age would not be.
--
-- A filter on state = 'active' alone would miss exiting backends, which are idle and write WAL, and
-- background processes, which have no state. A session idle in a transaction stays: it holds locks.
-- With track_activities off the state is 'disabled', and only a client wait tells idleness. From 18
-- on a session that is being authenticated is 'starting': one that waits for its client, perhaps for
-- ever, is no work.
SELECT
    a.pid::pg_catalog.int4 AS pid,
    a.leader_pid::pg_catalog.int4 AS leader_pid,
    a.backend_type::pg_catalog.text AS backend_type,
    a.state::pg_catalog.text AS state,
    a.wait_event_type::pg_catalog.text AS wait_event_type,
    a.wait_event::pg_catalog.text AS wait_event,
    NULL::pg_catalog.int8 AS query_id,
    (extract(epoch FROM a.xact_start) * 1000000)::pg_catalog.int8 AS xact_start_us,
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::pg_catalog.int8 AS clock_us
FROM pg_catalog.pg_stat_activity AS a
WHERE a.pid <> pg_catalog.pg_backend_pid()
    AND coalesce(a.application_name, '') NOT IN ('pgassay control', 'pgassay sampler')
    AND (
        a.query = '<insufficient privilege>'
        OR CASE
            WHEN a.backend_type IN ('client backend', 'parallel worker') THEN
                CASE a.state
                    WHEN 'idle' THEN a.wait_event_type NOT IN ('Client', 'Activity')
                    WHEN 'disabled' THEN coalesce(a.wait_event_type, '') NOT IN ('Client', 'Activity')
                    WHEN 'starting' THEN coalesce(a.wait_event_type, '') <> 'Client'
                    ELSE a.state IS NOT NULL
                END
            ELSE a.backend_type IS NOT NULL AND coalesce(a.wait_event_type, '') <> 'Activity'
        END
    )
