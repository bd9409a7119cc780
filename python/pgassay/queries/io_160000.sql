-- Reads, writes and syncs by kind of process, object and context.
-- Floor 16: pg_stat_io is new; it counts operations of op_bytes each, relations only.
--   Times stay 0 unless track_io_timing is on. NULL: the operation cannot occur there.
-- Privileges: none.
SELECT
    i.backend_type::pg_catalog.text AS backend_type,
    i.object::pg_catalog.text AS object,
    i.context::pg_catalog.text AS context,
    i.reads::pg_catalog.int8 AS reads,
    (i.reads * i.op_bytes)::pg_catalog.int8 AS read_bytes,
    i.read_time::pg_catalog.float8 AS read_time_ms,
    i.writes::pg_catalog.int8 AS writes,
    (i.writes * i.op_bytes)::pg_catalog.int8 AS write_bytes,
    i.write_time::pg_catalog.float8 AS write_time_ms,
    i.writebacks::pg_catalog.int8 AS writebacks,
    i.writeback_time::pg_catalog.float8 AS writeback_time_ms,
    i.extends::pg_catalog.int8 AS extends,
    (i.extends * i.op_bytes)::pg_catalog.int8 AS extend_bytes,
    i.extend_time::pg_catalog.float8 AS extend_time_ms,
    i.hits::pg_catalog.int8 AS hits,
    i.evictions::pg_catalog.int8 AS evictions,
    i.reuses::pg_catalog.int8 AS reuses,
    i.fsyncs::pg_catalog.int8 AS fsyncs,
    i.fsync_time::pg_catalog.float8 AS fsync_time_ms
FROM pg_catalog.pg_stat_io AS i
