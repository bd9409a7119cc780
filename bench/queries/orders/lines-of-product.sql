SELECT warehouse_id, district_id, purchase_id, amount FROM purchase_line WHERE product_id = 4711;
