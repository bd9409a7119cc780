SELECT picture, count(*) FROM product GROUP BY picture ORDER BY 2 DESC, 1 LIMIT 10;
