SELECT c.id, last.id FROM customer c CROSS JOIN LATERAL (
  SELECT p.id FROM purchase p WHERE p.warehouse_id = c.warehouse_id
    AND p.district_id = c.district_id
     AND p.customer_id = c.id ORDER BY p.id DESC LIMIT 1) last
 WHERE c.warehouse_id = 1 AND c.district_id = 6 AND c.id <= 100;
