-- The most common values of a column with their shares, the bounds of its histogram, and the share of NULL.
-- Parameters: schema, table, column.
SELECT s.most_common_vals::text::text[], s.most_common_freqs::float8[], s.histogram_bounds::text::text[]
  FROM pg_stats AS s
 WHERE s.schemaname = %s AND s.tablename = %s AND s.attname = %s
 ORDER BY s.inherited DESC
 LIMIT 1
