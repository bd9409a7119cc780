-- The most common values of a column with their shares, the bounds of its histogram, and how far its rows lie in its
-- order (1: all of them, -1: in the reverse).
-- Parameters: schema, table, column.
SELECT s.most_common_vals::text::text[], s.most_common_freqs::float8[], s.histogram_bounds::text::text[], s.correlation::float8
  FROM pg_stats AS s
 WHERE s.schemaname = %s AND s.tablename = %s AND s.attname = %s
 ORDER BY s.inherited DESC
 LIMIT 1
