SELECT count(*) FROM purchase p
 WHERE p.warehouse_id = 1 AND p.district_id = 3 AND p.id > 2000 AND EXISTS (
  SELECT FROM open_purchase o WHERE o.warehouse_id = p.warehouse_id
    AND o.district_id = p.district_id AND o.purchase_id = p.id);
