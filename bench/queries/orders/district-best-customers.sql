SELECT id, last_name, paid FROM customer
 WHERE warehouse_id = 1 AND district_id = 2 ORDER BY paid DESC, id LIMIT 10;
