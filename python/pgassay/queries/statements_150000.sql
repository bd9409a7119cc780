-- What each statement of this database took since its statistics were last reset.
-- Floor 15: times of temporary files, and what compiling expressions (JIT) took, in all.
-- Every: trial. Read before and after it, without the texts: up to pg_stat_statements.max rows.
-- Extension: pg_stat_statements 1.10, preloaded.
-- Privileges: pg_monitor (or pg_read_all_stats). Without it the statements of other roles have no
--   queryid and are one row, (hidden).
SELECT
    coalesce(s.queryid::pg_catalog.text, '(hidden)') AS queryid,
    sum(s.calls)::pg_catalog.float8 AS calls,
    sum(s.rows)::pg_catalog.float8 AS rows,
    sum(s.plans)::pg_catalog.float8 AS plans,
    sum(s.total_plan_time)::pg_catalog.float8 AS plan_time_ms,
    sum(s.total_exec_time)::pg_catalog.float8 AS exec_time_ms,
    sum(s.shared_blks_hit)::pg_catalog.float8 AS shared_blks_hit,
    sum(s.shared_blks_read)::pg_catalog.float8 AS shared_blks_read,
    sum(s.shared_blks_dirtied)::pg_catalog.float8 AS shared_blks_dirtied,
    sum(s.shared_blks_written)::pg_catalog.float8 AS shared_blks_written,
    sum(s.local_blks_hit)::pg_catalog.float8 AS local_blks_hit,
    sum(s.local_blks_read)::pg_catalog.float8 AS local_blks_read,
    sum(s.local_blks_dirtied)::pg_catalog.float8 AS local_blks_dirtied,
    sum(s.local_blks_written)::pg_catalog.float8 AS local_blks_written,
    sum(s.temp_blks_read)::pg_catalog.float8 AS temp_blks_read,
    sum(s.temp_blks_written)::pg_catalog.float8 AS temp_blks_written,
    sum(s.blk_read_time)::pg_catalog.float8 AS shared_read_time_ms,
    sum(s.blk_write_time)::pg_catalog.float8 AS shared_write_time_ms,
    sum(s.temp_blk_read_time)::pg_catalog.float8 AS temp_read_time_ms,
    sum(s.temp_blk_write_time)::pg_catalog.float8 AS temp_write_time_ms,
    sum(s.wal_records)::pg_catalog.float8 AS wal_records,
    sum(s.wal_fpi)::pg_catalog.float8 AS wal_fpi,
    sum(s.wal_bytes)::pg_catalog.float8 AS wal_bytes,
    sum(s.jit_functions)::pg_catalog.float8 AS jit_functions,
    sum(s.jit_generation_time + s.jit_inlining_time + s.jit_optimization_time
        + s.jit_emission_time)::pg_catalog.float8 AS jit_time_ms
FROM {extension}.pg_stat_statements(false) AS s
WHERE s.dbid = (SELECT d.oid FROM pg_catalog.pg_database AS d
                WHERE d.datname = pg_catalog.current_database())
GROUP BY s.queryid
