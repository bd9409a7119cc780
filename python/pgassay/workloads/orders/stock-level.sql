-- Of how many products in a district's last 20 purchases is little left?
\set warehouse random(1, :scale)
\set district random(1, 10)
\set least random(10, 20)
SELECT count(DISTINCT l.product_id)
  FROM district d
  JOIN purchase_line l
    ON l.warehouse_id = d.warehouse_id AND l.district_id = d.id
   AND l.purchase_id >= d.next_purchase - 20 AND l.purchase_id < d.next_purchase
  JOIN stock s ON s.warehouse_id = d.warehouse_id AND s.product_id = l.product_id
 WHERE d.warehouse_id = :warehouse AND d.id = :district AND s.quantity < :least;
