SELECT name, price, note FROM product WHERE id = 4711;
