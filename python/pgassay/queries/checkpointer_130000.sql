-- Checkpoints and what they wrote, since the statistics were last reset.
-- Floor 13: read from pg_stat_bgwriter, which held both processes' counters up to 16.
--   checkpoints_timed and checkpoints_requested also count checkpoints skipped for lack of work.
-- Privileges: none.
SELECT
    b.checkpoints_timed::pg_catalog.int8 AS checkpoints_timed,
    b.checkpoints_req::pg_catalog.int8 AS checkpoints_requested,
    b.checkpoint_write_time::pg_catalog.float8 AS write_time_ms,
    b.checkpoint_sync_time::pg_catalog.float8 AS sync_time_ms,
    b.buffers_checkpoint::pg_catalog.int8 AS buffers_written
FROM pg_catalog.pg_stat_bgwriter AS b
