-- The tables of this database that are scanned or changed most: their scans, size and dead rows.
-- Floor 13. table_rows and pages are those of the last VACUUM or ANALYZE. vacuum_due is the number of
--   dead rows as a multiple of the number at which autovacuum takes the table up, by the table's own
--   storage parameters or else the server's settings; NULL if it is off for the table. All are present numbers but scans, rows read by scans
--   and autovacuum_count.
-- At most: 1 % of a minute: the view looks at every table, 30 ms for 6 000.
-- Privileges: none.
SELECT
    t.relid::pg_catalog.regclass::pg_catalog.text AS relation,
    t.seq_scan::pg_catalog.int8 AS seq_scan,
    t.seq_tup_read::pg_catalog.int8 AS seq_tup_read,
    t.idx_scan::pg_catalog.int8 AS idx_scan,
    t.idx_tup_fetch::pg_catalog.int8 AS idx_tup_fetch,
    t.autovacuum_count::pg_catalog.int8 AS autovacuum_count,
    greatest(t.reltuples, 0)::pg_catalog.float8 AS table_rows,
    t.relpages::pg_catalog.int8 AS pages,
    t.n_dead_tup::pg_catalog.int8 AS dead_rows,
    CASE WHEN coalesce(own.enabled, true) THEN
        t.n_dead_tup / greatest(1.0, least(
            coalesce(own.threshold,
                     pg_catalog.current_setting('autovacuum_vacuum_threshold')::pg_catalog.float8)
            + coalesce(own.scale_factor,
                       pg_catalog.current_setting('autovacuum_vacuum_scale_factor')
                           ::pg_catalog.float8)
                * greatest(t.reltuples, 0),
            -- From 18 on; -1 is none, and least() passes over NULL.
            nullif(coalesce(own.max_threshold,
                            pg_catalog.current_setting('autovacuum_vacuum_max_threshold', true)
                                ::pg_catalog.float8), -1)
        ))
    END::pg_catalog.float8 AS vacuum_due
FROM (
    SELECT s.*, c.reltuples, c.relpages, c.reloptions
    FROM pg_catalog.pg_stat_user_tables AS s
    JOIN pg_catalog.pg_class AS c ON c.oid = s.relid
    WHERE s.schemaname NOT LIKE 'pg\_temp\_%'
    ORDER BY
        coalesce(s.seq_scan, 0) + coalesce(s.idx_scan, 0) + coalesce(s.n_dead_tup, 0) DESC,
        s.relid
    LIMIT 20
) AS t
-- The storage parameters of these twenty only.
CROSS JOIN LATERAL (
    SELECT
        pg_catalog.bool_and(o.option_value::pg_catalog.bool)
            FILTER (WHERE o.option_name = 'autovacuum_enabled') AS enabled,
        max(o.option_value::pg_catalog.float8)
            FILTER (WHERE o.option_name = 'autovacuum_vacuum_threshold') AS threshold,
        max(o.option_value::pg_catalog.float8)
            FILTER (WHERE o.option_name = 'autovacuum_vacuum_scale_factor') AS scale_factor,
        max(o.option_value::pg_catalog.float8)
            FILTER (WHERE o.option_name = 'autovacuum_vacuum_max_threshold') AS max_threshold
    FROM pg_catalog.pg_options_to_table(t.reloptions) AS o
) AS own
