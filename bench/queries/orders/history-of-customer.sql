SELECT p.id, sum(l.amount)
  FROM purchase p
  JOIN purchase_line l ON l.warehouse_id = p.warehouse_id AND l.district_id = p.district_id
    AND l.purchase_id = p.id
 WHERE p.warehouse_id = 1 AND p.district_id = 8 AND p.customer_id = 2222 GROUP BY p.id;
