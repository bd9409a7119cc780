SELECT purchase_id, sum(amount) AS total FROM purchase_line
 WHERE warehouse_id = 1 AND district_id = 5 GROUP BY purchase_id ORDER BY total DESC LIMIT 5;
