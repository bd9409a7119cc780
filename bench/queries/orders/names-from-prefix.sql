SELECT id, last_name FROM customer
 WHERE warehouse_id = 1 AND district_id = 1 AND last_name >= 'Tev' AND last_name < 'Tew'
    ORDER BY last_name LIMIT 50;
