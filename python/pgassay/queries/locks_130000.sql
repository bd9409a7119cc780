-- Heavyweight locks by mode: in a backend's fast path, in the shared table, waited for.
-- Floor 13. All are present numbers. Our own are left out.
-- At most: 2 % of a minute. The dearest of these queries: 1.6 to 5 ms for 2 200 locks of 100 sessions,
--   while which the lock table is held in shared mode.
-- Privileges: none.
SELECT
    l.mode::pg_catalog.text AS mode,
    count(*) FILTER (WHERE l.granted AND l.fastpath) AS fastpath,
    count(*) FILTER (WHERE l.granted AND NOT l.fastpath) AS shared_table,
    count(*) FILTER (WHERE NOT l.granted) AS waiting
FROM pg_catalog.pg_locks AS l
WHERE l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid()
    -- Every transaction holds one of these on itself: they count backends, not contention.
    AND l.locktype <> 'virtualxid'
GROUP BY l.mode
