-- Lock trees: which sessions wait for a lock, of what kind, and what is at the root of their queue.
-- Floor 14: pg_locks says since when a session waits, and sessions have a query_id. One row for each
--   kind of wait behind each kind of root, and (all), which is there while nobody waits, too. All are
--   present numbers.
-- depth: 1 waits for the root itself, 2 for a session that does, 3 for one further on. whose: what
--   the root is, a session by its state, else the type of its process; empty where it had gone by the
--   time it was looked up. held: the relation that is waited for; of a row, of its table.
-- root_pid is the process of a root, the largest where there are several; longest_ms is the longest wait,
--   root_xact_ms the age of the root's transaction.
-- Only: observations
--   Beside a measured load it would read the table of locks while sessions queue for it.
-- At most: 2 % of a minute. With nobody waiting it reads the sessions only, not the table of locks.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it the waits of other roles are not seen.
WITH waiters AS MATERIALIZED (
    SELECT a.pid, a.query_id, pg_catalog.pg_blocking_pids(a.pid) AS blockers
    FROM pg_catalog.pg_stat_activity AS a
    WHERE a.wait_event_type = 'Lock'
),
-- The condition does not depend on a row, so that without waiters no lock is looked at.
locks AS MATERIALIZED (
    SELECT l.pid, l.locktype, l.mode, l.granted, l.relation, l.database, l.waitstart
    FROM pg_catalog.pg_locks AS l
    WHERE (SELECT count(*) FROM waiters) > 0
        AND (NOT l.granted OR l.locktype = 'tuple')
),
-- Three levels one after the other, each session in one: all ways through a queue of hundreds, in which
-- each waits for all before it, would be too many.
first AS MATERIALIZED (
    SELECT w.pid, w.query_id, 1 AS depth, root.pid AS root
    FROM waiters AS w
    CROSS JOIN LATERAL (
        SELECT min(b.pid) AS pid
        FROM unnest(w.blockers) AS b (pid)
        WHERE NOT EXISTS (SELECT FROM waiters AS other WHERE other.pid = b.pid)
    ) AS root
    WHERE root.pid IS NOT NULL
),
second AS MATERIALIZED (
    SELECT w.pid, w.query_id, 2 AS depth, ahead.root
    FROM waiters AS w
    CROSS JOIN LATERAL (
        SELECT min(f.root) AS root FROM first AS f WHERE f.pid = ANY (w.blockers)
    ) AS ahead
    WHERE ahead.root IS NOT NULL AND NOT EXISTS (SELECT FROM first AS f WHERE f.pid = w.pid)
),
placed AS MATERIALIZED (
    SELECT * FROM first
    UNION ALL
    SELECT * FROM second
    UNION ALL
    SELECT w.pid, w.query_id, 3, (SELECT min(s.root) FROM second AS s WHERE s.pid = ANY (w.blockers))
    FROM waiters AS w
    WHERE NOT EXISTS (SELECT FROM first AS f WHERE f.pid = w.pid)
        AND NOT EXISTS (SELECT FROM second AS s WHERE s.pid = w.pid)
)
SELECT
    CASE
        -- A prepared transaction holds locks without a process.
        WHEN p.root = 0 THEN 'prepared transaction'
        WHEN root.backend_type = 'client backend' THEN root.state
        ELSE root.backend_type
    END::pg_catalog.text AS whose,
    root.query_id::pg_catalog.text AS root_query_id,
    p.depth::pg_catalog.text AS depth,
    p.query_id::pg_catalog.text AS query_id,
    l.locktype::pg_catalog.text AS locktype,
    l.mode::pg_catalog.text AS mode,
    CASE
        WHEN held.relation IS NULL THEN NULL
        WHEN held.database = (SELECT d.oid FROM pg_catalog.pg_database AS d
                              WHERE d.datname = pg_catalog.current_database())
            THEN held.relation::pg_catalog.regclass::pg_catalog.text
        ELSE held.relation::pg_catalog.text
    END AS held,
    count(*) AS waiting,
    count(DISTINCT p.root) AS roots,
    max(p.root)::pg_catalog.float8 AS root_pid,
    max(extract(epoch FROM pg_catalog.clock_timestamp() - l.waitstart) * 1000)::pg_catalog.float8
        AS longest_ms,
    max(extract(epoch FROM pg_catalog.clock_timestamp() - root.xact_start) * 1000)::pg_catalog.float8
        AS root_xact_ms
FROM placed AS p
LEFT JOIN locks AS l ON l.pid = p.pid AND NOT l.granted
-- Who waits for a transaction says by the row that it holds which table it is about.
LEFT JOIN LATERAL (
    SELECT own.relation, own.database
    FROM locks AS own
    WHERE own.pid = p.pid AND own.relation IS NOT NULL
    ORDER BY own.granted
    LIMIT 1
) AS held ON true
LEFT JOIN LATERAL pg_catalog.pg_stat_get_activity(p.root) AS activity ON p.root <> 0
LEFT JOIN pg_catalog.pg_stat_activity AS root ON root.pid = activity.pid
GROUP BY 1, 2, 3, 4, 5, 6, 7
UNION ALL
SELECT '(all)', NULL, NULL, NULL, NULL, NULL, NULL, count(*), NULL, NULL, NULL, NULL
FROM waiters
