SELECT sum(s.quantity * i.price) FROM stock s JOIN product i ON i.id = s.product_id;
