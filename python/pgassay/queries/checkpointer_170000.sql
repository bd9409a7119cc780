-- Checkpoints and what they wrote, since the statistics were last reset.
-- Floor 17: a view of its own, pg_stat_checkpointer, with restartpoints (standby) counted apart.
--   checkpoints_timed and checkpoints_requested also count checkpoints skipped for lack of work.
-- Privileges: none.
SELECT
    c.num_timed::pg_catalog.int8 AS checkpoints_timed,
    c.num_requested::pg_catalog.int8 AS checkpoints_requested,
    c.restartpoints_timed::pg_catalog.int8 AS restartpoints_timed,
    c.restartpoints_req::pg_catalog.int8 AS restartpoints_requested,
    c.restartpoints_done::pg_catalog.int8 AS restartpoints_done,
    c.write_time::pg_catalog.float8 AS write_time_ms,
    c.sync_time::pg_catalog.float8 AS sync_time_ms,
    c.buffers_written::pg_catalog.int8 AS buffers_written
FROM pg_catalog.pg_stat_checkpointer AS c
