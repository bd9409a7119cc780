-- Purchases of a district are numbered from 1 without gaps, and the next one has the next number.
SELECT d.warehouse_id, d.id AS district_id, d.next_purchase, p.last, p.purchases
  FROM district d
  LEFT JOIN (SELECT warehouse_id, district_id, max(id) AS last, count(*) AS purchases
               FROM purchase
              GROUP BY warehouse_id, district_id) AS p
    ON p.warehouse_id = d.warehouse_id AND p.district_id = d.id
 WHERE d.next_purchase - 1 IS DISTINCT FROM p.last OR p.last IS DISTINCT FROM p.purchases
