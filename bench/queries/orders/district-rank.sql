SELECT id, rank() OVER (ORDER BY balance, id) FROM customer
 WHERE warehouse_id = 1 AND district_id = 1 ORDER BY 2 LIMIT 10;
