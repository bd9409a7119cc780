SELECT i.id, i.name, s.quantity FROM product i JOIN stock s ON s.product_id = i.id
 WHERE s.warehouse_id = 1 AND i.id BETWEEN 500 AND 700;
