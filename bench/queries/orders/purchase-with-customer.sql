SELECT p.id, p.placed_at, c.last_name, c.city
  FROM purchase p
  JOIN customer c ON c.warehouse_id = p.warehouse_id AND c.district_id = p.district_id
    AND c.id = p.customer_id
 WHERE p.warehouse_id = 1 AND p.district_id = 2 AND p.id BETWEEN 1000 AND 1050;
