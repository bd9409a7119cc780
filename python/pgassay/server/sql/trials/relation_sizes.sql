-- The largest tables and indexes of this database: a table with its TOAST, an index by itself.
-- Bounded where there are very many relations: then only those that were largest at the last VACUUM
-- or ANALYZE are looked at. Parameter: how many are told.
WITH candidates AS (
    SELECT c.oid, c.relname, c.relkind, n.nspname
      FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm', 'i')
       AND c.relpersistence <> 't'
       AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
     ORDER BY c.relpages DESC, c.oid
     LIMIT 2000
), sized AS (
    SELECT nspname, relname,
           CASE relkind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view' ELSE 'index' END,
           pg_catalog.pg_table_size(oid) AS bytes
      FROM candidates
)
SELECT * FROM sized WHERE bytes IS NOT NULL ORDER BY bytes DESC, nspname, relname LIMIT %s
