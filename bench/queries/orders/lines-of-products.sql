SELECT product_id, count(*) FROM purchase_line
 WHERE product_id IN (11, 222, 3333, 44444) GROUP BY product_id;
