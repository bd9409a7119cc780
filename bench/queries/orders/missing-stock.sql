SELECT count(*) FROM product i WHERE i.id < 3000 AND NOT EXISTS (
  SELECT FROM stock s WHERE s.warehouse_id = 1 AND s.product_id = i.id);
