SELECT id, customer_id, line_count FROM purchase
 WHERE warehouse_id = 1 AND district_id = 9 AND id > 2000 ORDER BY id LIMIT 200;
