SELECT id, first_name, balance FROM customer
 WHERE warehouse_id = 1 AND district_id = 5 AND last_name = 'KaLomMir' ORDER BY first_name;
