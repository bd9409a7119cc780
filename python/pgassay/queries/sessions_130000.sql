-- How many processes of each kind there are, and in what state: connections in use, sessions idle
--   in a transaction, autovacuum workers, parallel workers.
-- Floor 13. All are present numbers.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it processes of other roles have no kind
--   and count as (hidden).
SELECT
    coalesce(a.backend_type, '(hidden)')::pg_catalog.text AS backend_type,
    a.state::pg_catalog.text AS state,
    count(*) AS processes
FROM pg_catalog.pg_stat_activity AS a
WHERE a.pid <> pg_catalog.pg_backend_pid()
    AND coalesce(a.application_name, '') NOT IN ('pgassay control', 'pgassay sampler')
GROUP BY a.backend_type, a.state
