SELECT o.purchase_id, count(*), sum(l.amount)
  FROM open_purchase o
  JOIN purchase_line l USING (warehouse_id, district_id, purchase_id)
 WHERE o.warehouse_id = 1 AND o.district_id = 1 AND o.purchase_id < 2140 GROUP BY o.purchase_id;
