SELECT count(DISTINCT c.id) FROM open_purchase o
  JOIN purchase p ON p.warehouse_id = o.warehouse_id AND p.district_id = o.district_id
    AND p.id = o.purchase_id
  JOIN customer c ON c.warehouse_id = p.warehouse_id AND c.district_id = p.district_id
    AND c.id = p.customer_id;
