-- What maintenance is under way, table by table, and how far it is.
-- Floor 13.
--   All are present numbers. A table of another database is shown by its number: its name is there.
-- whose: autovacuum, pgassay (our own, and its load's), another, or nothing where that is hidden.
--   Asked for by the process, so that it costs nothing where there is no maintenance.
-- Two at the same work on one table (COPY, base backups) are told apart by a number.
-- Privileges: pg_monitor (or pg_read_all_stats) for the work of other roles.
-- done and total: blocks (VACUUM, ANALYZE, CREATE INDEX, CLUSTER), bytes (base backup).
--   more_*: blocks vacuumed and index passes (VACUUM), extended statistics (ANALYZE), tuples
--   (CREATE INDEX), tuples scanned and written (CLUSTER), tablespaces (base backup).
SELECT
    p.command,
    p.datname,
    p.relation || CASE
        WHEN pg_catalog.row_number() OVER same > 1 THEN ' #' || pg_catalog.row_number() OVER same
        ELSE ''
    END AS relation,
    p.phase,
    CASE
        WHEN a.backend_type = 'autovacuum worker' THEN 'autovacuum'
        WHEN a.application_name IN ('pgassay', 'pgassay control', 'pgassay sampler') THEN 'pgassay'
        WHEN a.backend_type IS NOT NULL THEN 'another'
        ELSE ''
    END::pg_catalog.text AS whose,
    p.done,
    p.total,
    p.more_done,
    p.more_total
FROM (
    SELECT
        'VACUUM'::pg_catalog.text AS command,
        p.datname::pg_catalog.text AS datname,
        CASE WHEN p.datname = pg_catalog.current_database() THEN p.relid::pg_catalog.regclass::pg_catalog.text
             ELSE p.relid::pg_catalog.text END AS relation,
        p.phase::pg_catalog.text AS phase,
        p.pid,
        p.heap_blks_scanned::pg_catalog.int8 AS done,
        p.heap_blks_total::pg_catalog.int8 AS total,
        p.heap_blks_vacuumed::pg_catalog.int8 AS more_done,
        p.index_vacuum_count::pg_catalog.int8 AS more_total
    FROM pg_catalog.pg_stat_progress_vacuum AS p
    UNION ALL
    SELECT
        'ANALYZE'::pg_catalog.text,
        p.datname::pg_catalog.text,
        CASE WHEN p.datname = pg_catalog.current_database() THEN p.relid::pg_catalog.regclass::pg_catalog.text
             ELSE p.relid::pg_catalog.text END,
        p.phase::pg_catalog.text,
        p.pid,
        p.sample_blks_scanned::pg_catalog.int8,
        p.sample_blks_total::pg_catalog.int8,
        p.ext_stats_computed::pg_catalog.int8,
        p.ext_stats_total::pg_catalog.int8
    FROM pg_catalog.pg_stat_progress_analyze AS p
    UNION ALL
    SELECT
        p.command::pg_catalog.text,
        p.datname::pg_catalog.text,
        CASE WHEN p.datname = pg_catalog.current_database() THEN p.relid::pg_catalog.regclass::pg_catalog.text
             ELSE p.relid::pg_catalog.text END,
        p.phase::pg_catalog.text,
        p.pid,
        p.blocks_done::pg_catalog.int8,
        p.blocks_total::pg_catalog.int8,
        p.tuples_done::pg_catalog.int8,
        p.tuples_total::pg_catalog.int8
    FROM pg_catalog.pg_stat_progress_create_index AS p
    UNION ALL
    SELECT
        p.command::pg_catalog.text,
        p.datname::pg_catalog.text,
        CASE WHEN p.datname = pg_catalog.current_database() THEN p.relid::pg_catalog.regclass::pg_catalog.text
             ELSE p.relid::pg_catalog.text END,
        p.phase::pg_catalog.text,
        p.pid,
        p.heap_blks_scanned::pg_catalog.int8,
        p.heap_blks_total::pg_catalog.int8,
        p.heap_tuples_scanned::pg_catalog.int8,
        p.heap_tuples_written::pg_catalog.int8
    FROM pg_catalog.pg_stat_progress_cluster AS p
    UNION ALL
    SELECT
        'BASE_BACKUP'::pg_catalog.text,
        ''::pg_catalog.text,
        ''::pg_catalog.text,
        p.phase::pg_catalog.text,
        p.pid,
        p.backup_streamed::pg_catalog.int8,
        p.backup_total::pg_catalog.int8,
        p.tablespaces_streamed::pg_catalog.int8,
        p.tablespaces_total::pg_catalog.int8
    FROM pg_catalog.pg_stat_progress_basebackup AS p
) AS p
LEFT JOIN LATERAL pg_catalog.pg_stat_get_activity(p.pid) AS a ON true
WINDOW same AS (PARTITION BY p.command, p.datname, p.relation, p.phase ORDER BY p.pid)
