-- A table, and its size with that of its partitions. Parameters: its oid.
-- Rows are NULL where it was never analysed.
WITH named AS (SELECT %s::oid AS oid),
     parts AS (SELECT oid FROM named
                UNION
               SELECT p.relid FROM named, pg_partition_tree(named.oid) AS p)
SELECT c.oid::int8, n.nspname::text, c.relname::text, format('%%I.%%I', n.nspname, c.relname), c.relkind::text,
       sum(pg_relation_size(leaf.oid) / current_setting('block_size')::int)::int8,
       sum(nullif(leaf.reltuples, -1))::float8
  FROM named
  JOIN pg_class AS c ON c.oid = named.oid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN (parts JOIN pg_class AS leaf ON leaf.oid = parts.oid AND leaf.relkind IN ('r', 'm')) ON true
 GROUP BY c.oid, n.nspname, c.relname, c.relkind
