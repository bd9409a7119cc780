SELECT purchase_id, sum(amount) OVER (ORDER BY purchase_id, number) FROM purchase_line
 WHERE warehouse_id = 1 AND district_id = 8 AND purchase_id > 2700;
