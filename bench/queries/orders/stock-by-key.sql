SELECT quantity, sold FROM stock WHERE warehouse_id = 1 AND product_id = 4711;
