-- What was sold of a product is the sum of the lines since the data were made.
SELECT s.warehouse_id, s.product_id, s.sold, l.quantity, s.purchases, l.lines
  FROM stock s
  LEFT JOIN (SELECT supplier_id, product_id, sum(quantity) AS quantity, count(*) AS lines
               FROM purchase_line
              WHERE purchase_id > 3000
              GROUP BY supplier_id, product_id) AS l
    ON l.supplier_id = s.warehouse_id AND l.product_id = s.product_id
 WHERE s.sold <> coalesce(l.quantity, 0) OR s.purchases <> coalesce(l.lines, 0)
