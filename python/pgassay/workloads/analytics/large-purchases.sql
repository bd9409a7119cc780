-- Who made purchases of more than some 300 pieces?
\set quantity random(312, 315)
SELECT c.name, c.id AS customer_id, p.id AS purchase_id, p.placed_on, p.total, large.quantity
  FROM (SELECT purchase_id, sum(quantity) AS quantity
          FROM purchase_line
         GROUP BY purchase_id
        HAVING sum(quantity) > :quantity) AS large
  JOIN purchase p ON p.id = large.purchase_id
  JOIN customer c ON c.id = p.customer_id
 ORDER BY p.total DESC, p.placed_on
 LIMIT 100;
