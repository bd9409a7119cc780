SELECT count(DISTINCT l.product_id)
  FROM district d
  JOIN purchase_line l ON l.warehouse_id = d.warehouse_id AND l.district_id = d.id
   AND l.purchase_id >= d.next_purchase - 20 AND l.purchase_id < d.next_purchase
  JOIN stock s ON s.warehouse_id = d.warehouse_id AND s.product_id = l.product_id
 WHERE d.warehouse_id = 1 AND d.id = 3 AND s.quantity < 15;
