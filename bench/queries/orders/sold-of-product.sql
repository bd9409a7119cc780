SELECT sum(quantity), sum(amount) FROM purchase_line WHERE product_id = 31415;
