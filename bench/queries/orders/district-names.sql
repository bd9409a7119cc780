SELECT last_name, count(*) FROM customer
 WHERE warehouse_id = 1 AND district_id = 5 GROUP BY last_name HAVING count(*) > 5;
