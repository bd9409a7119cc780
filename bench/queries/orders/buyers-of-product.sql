SELECT DISTINCT p.customer_id FROM purchase_line l
  JOIN purchase p ON p.warehouse_id = l.warehouse_id AND p.district_id = l.district_id
    AND p.id = l.purchase_id
 WHERE l.product_id = 16180;
