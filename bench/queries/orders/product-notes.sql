SELECT count(*) FROM product WHERE note LIKE '%beef%';
