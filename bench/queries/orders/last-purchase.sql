SELECT id, placed_at, carrier FROM purchase
 WHERE warehouse_id = 1 AND district_id = 2 AND customer_id = 900 ORDER BY id DESC LIMIT 1;
