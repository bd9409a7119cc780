SELECT first_name, last_name, balance FROM customer
 WHERE warehouse_id = 1 AND district_id = 3 AND id = 1234;
