-- Each line's product is one that its supplier offers.
SELECT l.purchase_id, l.number, l.product_id, l.supplier_id
  FROM purchase_line l
 WHERE NOT EXISTS (SELECT FROM offer o
                    WHERE o.product_id = l.product_id AND o.supplier_id = l.supplier_id)
