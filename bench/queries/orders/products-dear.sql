SELECT id, name, price FROM product ORDER BY price DESC, id LIMIT 20;
