-- A district has received what was paid there.
SELECT d.warehouse_id, d.id AS district_id, d.received, p.paid
  FROM district d
  LEFT JOIN (SELECT warehouse_id, district_id, sum(amount) AS paid
               FROM payment
              GROUP BY warehouse_id, district_id) AS p
    ON p.warehouse_id = d.warehouse_id AND p.district_id = d.id
 WHERE d.received IS DISTINCT FROM p.paid
