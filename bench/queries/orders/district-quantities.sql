SELECT quantity, count(*) FROM purchase_line
 WHERE warehouse_id = 1 AND district_id = 9 GROUP BY quantity;
