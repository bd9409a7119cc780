SELECT product_id, quantity FROM stock WHERE quantity < 11;
