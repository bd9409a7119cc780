-- The indexes and extended statistics of this database but for those that are known: of a
-- partitioned index the whole. `analysed` is the table whose ANALYZE fills what the planner reads of
-- the object, where it does. Parameters: the known oids of both kinds.
SELECT c.oid, 'INDEX' AS kind,
       pg_catalog.format('%%I.%%I', n.nspname, c.relname) AS name,
       (pg_catalog.pg_total_relation_size(c.oid) + coalesce((
           SELECT sum(pg_catalog.pg_total_relation_size(part.relid))
             FROM pg_catalog.pg_partition_tree(c.oid) AS part
            WHERE part.relid <> c.oid), 0))::pg_catalog.int8 AS bytes,
       CASE WHEN i.indexprs IS NOT NULL THEN i.indrelid::pg_catalog.regclass::pg_catalog.text END
           AS analysed
  FROM pg_catalog.pg_index AS i
  JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
 WHERE NOT c.relispartition
   AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
   AND c.oid <> ALL (%(INDEX)s::pg_catalog.oid[])
UNION ALL
SELECT s.oid, 'STATISTICS', pg_catalog.format('%%I.%%I', n.nspname, s.stxname), 0,
       s.stxrelid::pg_catalog.regclass::pg_catalog.text
  FROM pg_catalog.pg_statistic_ext AS s
  JOIN pg_catalog.pg_namespace AS n ON n.oid = s.stxnamespace
 WHERE s.oid <> ALL (%(STATISTICS)s::pg_catalog.oid[])
 ORDER BY kind, name
