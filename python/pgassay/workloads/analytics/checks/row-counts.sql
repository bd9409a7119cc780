-- The tables are as large as the scale says.
SELECT name, rows, expected
  FROM (SELECT 'supplier' AS name, (SELECT count(*) FROM supplier) AS rows,
               1000 * :scale::bigint AS expected
        UNION ALL
        SELECT 'product', (SELECT count(*) FROM product), 20000 * :scale::bigint
        UNION ALL
        SELECT 'offer', (SELECT count(*) FROM offer), 80000 * :scale::bigint
        UNION ALL
        SELECT 'customer', (SELECT count(*) FROM customer), 15000 * :scale::bigint
        UNION ALL
        SELECT 'purchase', (SELECT count(*) FROM purchase), 150000 * :scale::bigint) AS counted
 WHERE rows <> expected
