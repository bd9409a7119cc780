-- Delivers the oldest open purchase of each district of a warehouse. It is one statement, because
-- scripts have no loops: open purchases are locked in the order of their districts, so that
-- deliveries of one warehouse follow each other and cannot deadlock.
\set warehouse random(1, :scale)
\set carrier random(1, 10)
WITH oldest AS (
    SELECT district_id, purchase_id
      FROM generate_series(1, 10) AS d
     CROSS JOIN LATERAL (SELECT district_id, purchase_id
                           FROM open_purchase
                          WHERE warehouse_id = :warehouse AND district_id = d
                          ORDER BY purchase_id
                          LIMIT 1
                            FOR UPDATE) AS first
), closed AS (
    DELETE FROM open_purchase o
     USING oldest
     WHERE o.warehouse_id = :warehouse AND o.district_id = oldest.district_id
       AND o.purchase_id = oldest.purchase_id
    RETURNING o.district_id, o.purchase_id
), shipped AS (
    UPDATE purchase p
       SET carrier = :carrier
      FROM closed
     WHERE p.warehouse_id = :warehouse AND p.district_id = closed.district_id
       AND p.id = closed.purchase_id
    RETURNING p.district_id, p.id, p.customer_id
), delivered AS (
    UPDATE purchase_line l
       SET delivered_at = now()
      FROM closed
     WHERE l.warehouse_id = :warehouse AND l.district_id = closed.district_id
       AND l.purchase_id = closed.purchase_id
    RETURNING l.district_id, l.amount
)
UPDATE customer c
   SET balance = balance + billed.amount, deliveries = deliveries + 1
  FROM (SELECT shipped.district_id, shipped.customer_id, sum(delivered.amount) AS amount
          FROM shipped JOIN delivered USING (district_id)
         GROUP BY shipped.district_id, shipped.customer_id) AS billed
 WHERE c.warehouse_id = :warehouse AND c.district_id = billed.district_id
   AND c.id = billed.customer_id;
