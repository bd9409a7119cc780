-- The open purchases are those without a carrier.
SELECT coalesce(p.warehouse_id, o.warehouse_id) AS warehouse_id,
       coalesce(p.district_id, o.district_id) AS district_id,
       coalesce(p.id, o.purchase_id) AS purchase_id, p.carrier,
       o.purchase_id IS NOT NULL AS is_open
  FROM purchase p
  FULL JOIN open_purchase o
    ON o.warehouse_id = p.warehouse_id AND o.district_id = p.district_id AND o.purchase_id = p.id
 WHERE p.id IS NULL OR (p.carrier IS NULL) <> (o.purchase_id IS NOT NULL)
