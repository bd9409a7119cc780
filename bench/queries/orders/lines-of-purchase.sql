SELECT number, product_id, quantity, amount FROM purchase_line
 WHERE warehouse_id = 1 AND district_id = 4 AND purchase_id = 2500 ORDER BY number;
