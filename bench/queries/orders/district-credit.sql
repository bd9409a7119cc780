SELECT credit, count(*), avg(discount) FROM customer
 WHERE warehouse_id = 1 AND district_id = 10 GROUP BY credit;
