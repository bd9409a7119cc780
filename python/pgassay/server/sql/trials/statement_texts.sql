-- The texts of these statements, as the extension keeps them: constants replaced by $1, $2 ...
SELECT s.queryid::pg_catalog.text, min(pg_catalog.left(s.query, %s))
  FROM {extension}.pg_stat_statements AS s
 WHERE s.dbid = (SELECT d.oid FROM pg_catalog.pg_database AS d
                  WHERE d.datname = pg_catalog.current_database())
   AND s.queryid = ANY (%s::pg_catalog.int8[])
   AND s.query IS NOT NULL
 GROUP BY s.queryid
