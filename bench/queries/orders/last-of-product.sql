SELECT max(purchase_id) FROM purchase_line WHERE product_id = 27182;
