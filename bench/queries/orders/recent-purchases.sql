SELECT id, customer_id FROM purchase
 WHERE warehouse_id = 1 AND district_id = 10 ORDER BY id DESC LIMIT 20;
