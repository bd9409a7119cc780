-- The small caches of transaction status, subtransactions, multixacts and the like.
-- Floor 13: pg_stat_slru is new. Caches that nobody has used yet are left out.
-- Privileges: none.
SELECT
    s.name::pg_catalog.text AS name,
    s.blks_zeroed::pg_catalog.int8 AS blks_zeroed,
    s.blks_hit::pg_catalog.int8 AS blks_hit,
    s.blks_read::pg_catalog.int8 AS blks_read,
    s.blks_written::pg_catalog.int8 AS blks_written,
    s.blks_exists::pg_catalog.int8 AS blks_exists,
    s.flushes::pg_catalog.int8 AS flushes,
    s.truncates::pg_catalog.int8 AS truncates
FROM pg_catalog.pg_stat_slru AS s
WHERE s.blks_zeroed + s.blks_hit + s.blks_read + s.blks_written + s.flushes > 0
