-- The tables of this database that are scanned or changed most: their scans, size and dead rows.
-- Floor 13. table_rows and pages are those of the last VACUUM or ANALYZE. vacuum_due is the number of
--   dead rows as a multiple of the number at which autovacuum takes the table up (by the server's
--   settings, not those of single tables). All are present numbers but scans, rows read by scans
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
    greatest(c.reltuples, 0)::pg_catalog.float8 AS table_rows,
    c.relpages::pg_catalog.int8 AS pages,
    t.n_dead_tup::pg_catalog.int8 AS dead_rows,
    (t.n_dead_tup / greatest(
        pg_catalog.current_setting('autovacuum_vacuum_threshold')::pg_catalog.float8
        + pg_catalog.current_setting('autovacuum_vacuum_scale_factor')::pg_catalog.float8
            * greatest(c.reltuples, 0),
        1.0
    ))::pg_catalog.float8 AS vacuum_due
FROM pg_catalog.pg_stat_user_tables AS t
JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
WHERE t.schemaname NOT LIKE 'pg\_temp\_%'
ORDER BY
    coalesce(t.seq_scan, 0) + coalesce(t.idx_scan, 0) + coalesce(t.n_dead_tup, 0) DESC,
    t.relid
LIMIT 20
