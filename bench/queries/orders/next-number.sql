SELECT next_purchase, tax FROM district WHERE warehouse_id = 1 AND id = 8;
