-- What shared_buffers holds: used, dirty, pinned, and how often it is used.
-- Floor 16: pg_buffercache_summary() is new; it takes no locks. Earlier the extension can only copy
--   every buffer under its lock, too dear for a sampler.
-- Every: 10 s. It looks at every buffer: about 10 ms a million of them (8 GB).
-- At most: 2 % of a minute.
-- Extension: pg_buffercache 1.4.
-- Privileges: pg_monitor. All are present numbers.
SELECT
    b.buffers_used::pg_catalog.int8 AS buffers_used,
    b.buffers_unused::pg_catalog.int8 AS buffers_unused,
    b.buffers_dirty::pg_catalog.int8 AS buffers_dirty,
    b.buffers_pinned::pg_catalog.int8 AS buffers_pinned,
    b.usagecount_avg::pg_catalog.float8 AS usagecount_avg
FROM {extension}.pg_buffercache_summary() AS b
