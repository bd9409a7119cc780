SELECT count(DISTINCT label) FROM purchase_line
 WHERE warehouse_id = 1 AND district_id = 6 AND purchase_id > 2500;
