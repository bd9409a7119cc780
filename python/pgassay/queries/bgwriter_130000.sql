-- The background writer and buffers that others had to write or allocate.
-- Floor 13: buffers_backend and buffers_backend_fsync are here up to 16.
-- Privileges: none.
SELECT
    b.buffers_clean::pg_catalog.int8 AS buffers_clean,
    b.maxwritten_clean::pg_catalog.int8 AS maxwritten_clean,
    b.buffers_alloc::pg_catalog.int8 AS buffers_alloc,
    b.buffers_backend::pg_catalog.int8 AS buffers_backend,
    b.buffers_backend_fsync::pg_catalog.int8 AS buffers_backend_fsync
FROM pg_catalog.pg_stat_bgwriter AS b
