SELECT id, name, price FROM product WHERE id IN (3, 77, 1500, 23456, 65000, 99999);
