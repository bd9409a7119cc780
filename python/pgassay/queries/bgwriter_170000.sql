-- The background writer and buffer allocations.
-- Floor 17: what backends write themselves left this view; the io query has it.
-- Privileges: none.
SELECT
    b.buffers_clean::pg_catalog.int8 AS buffers_clean,
    b.maxwritten_clean::pg_catalog.int8 AS maxwritten_clean,
    b.buffers_alloc::pg_catalog.int8 AS buffers_alloc
FROM pg_catalog.pg_stat_bgwriter AS b
