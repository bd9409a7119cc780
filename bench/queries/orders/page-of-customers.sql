SELECT id, last_name, city FROM customer
 WHERE warehouse_id = 1 AND district_id = 7 AND id > 1200 ORDER BY id LIMIT 100;
