SELECT count(*) FROM purchase p
 WHERE p.warehouse_id = 1 AND p.district_id = 3 AND p.carrier IS NULL;
