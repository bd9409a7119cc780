-- The texts of statements of this database, and the most characters of them that were kept.
-- Parameters: an array of queryids. {extension}: the schema of pg_stat_statements, quoted.
SELECT s.queryid, min(s.query)
  FROM {extension}.pg_stat_statements(true) AS s
 WHERE s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
   AND s.queryid = ANY (%s)
 GROUP BY s.queryid
