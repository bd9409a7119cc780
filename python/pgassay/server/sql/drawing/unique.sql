-- The columns of each unique index of a table that holds for all its rows. Parameters: the table's oid.
SELECT array_agg(a.attname::text ORDER BY k.place)
  FROM pg_index AS i
 CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
  JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
 WHERE i.indrelid::int8 = %s
   AND i.indisunique
   AND i.indpred IS NULL
   AND i.indexprs IS NULL
   AND k.place <= i.indnkeyatts
 GROUP BY i.indexrelid
