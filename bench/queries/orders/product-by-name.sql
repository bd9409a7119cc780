SELECT id, price FROM product WHERE name = 'product 3c59dc048e88';
