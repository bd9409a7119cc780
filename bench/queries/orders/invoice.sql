SELECT l.number, i.name, l.quantity, i.price, l.quantity * i.price AS total
  FROM purchase_line l JOIN product i ON i.id = l.product_id
 WHERE l.warehouse_id = 1 AND l.district_id = 5 AND l.purchase_id = 1717 ORDER BY l.number;
