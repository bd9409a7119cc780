-- A customer's balance is what was delivered less what was paid.
SELECT c.warehouse_id, c.district_id, c.id AS customer_id, c.balance, c.paid,
       p.amount AS payments, b.amount AS delivered
  FROM customer c
  LEFT JOIN (SELECT customer_warehouse_id, customer_district_id, customer_id, sum(amount) AS amount
               FROM payment
              GROUP BY customer_warehouse_id, customer_district_id, customer_id) AS p
    ON p.customer_warehouse_id = c.warehouse_id AND p.customer_district_id = c.district_id
   AND p.customer_id = c.id
  LEFT JOIN (SELECT p.warehouse_id, p.district_id, p.customer_id, sum(l.amount) AS amount
               FROM purchase p
               JOIN purchase_line l
                 ON l.warehouse_id = p.warehouse_id AND l.district_id = p.district_id
                AND l.purchase_id = p.id
              WHERE l.delivered_at IS NOT NULL
              GROUP BY p.warehouse_id, p.district_id, p.customer_id) AS b
    ON b.warehouse_id = c.warehouse_id AND b.district_id = c.district_id AND b.customer_id = c.id
 WHERE c.paid IS DISTINCT FROM p.amount
    OR c.balance <> coalesce(b.amount, 0) - p.amount
