-- The columns of a table in their order, each with its type, mean width, the column that a foreign key of it
-- alone refers to, and whether it is in any foreign key. citext is known by its name in any schema.
-- Parameters: the table's oid.
SELECT a.attname::text,
       regexp_replace(format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL), '^.*[.](?=citext)', ''), format('%%I', a.attname),
       (SELECT max(s.avg_width)
          FROM pg_stats AS s
         WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname),
       f.confrelid::int8,
       (SELECT p.attname::text FROM pg_attribute AS p WHERE p.attrelid = f.confrelid AND p.attnum = f.confkey[1]),
       EXISTS (SELECT FROM pg_constraint AS k
                WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey))
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type AS t ON t.oid = a.atttypid
  LEFT JOIN LATERAL (
         SELECT k.confrelid, k.confkey
           FROM pg_constraint AS k
          WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
          LIMIT 1) AS f ON true
 WHERE c.oid::int8 = %s
 ORDER BY a.attnum
