SELECT min(purchase_id) FROM open_purchase WHERE warehouse_id = 1 AND district_id = 6;
