-- Waits of client backends as pg_wait_sampling counts them, by event and query.
--
-- Every: trial. Read before and after it: up to one row per process, event and query it has seen.
-- Extension: pg_wait_sampling 1.1, preloaded.
-- Privileges: pg_monitor. Without it the server's other processes cannot be told from clients.
--
-- A profile knows no states: a session that is idle waits for its client as one in a transaction
-- does, so waiting for clients is left out. What has no event is on CPU; most versions skip it.
-- Of a process that has ended only its number is left: it counts as a client.
SELECT
    coalesce(p.event_type || ':' || p.event, 'CPU') || '/' || coalesce(p.queryid, 0) AS wait,
    sum(p.count)::pg_catalog.float8 AS samples,
    (sum(p.count) * period.ms)::pg_catalog.float8 AS waited_ms
FROM {extension}.pg_wait_sampling_profile AS p
    CROSS JOIN (SELECT s.setting::pg_catalog.int8 AS ms FROM pg_catalog.pg_settings AS s
                WHERE s.name = 'pg_wait_sampling.profile_period') AS period
    LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = p.pid
WHERE coalesce(a.backend_type, 'client backend') IN ('client backend', 'parallel worker')
    AND coalesce(p.event_type, '') <> 'Activity'
    AND (coalesce(p.event_type, ''), coalesce(p.event, '')) <> ('Client', 'ClientRead')
GROUP BY 1, period.ms
