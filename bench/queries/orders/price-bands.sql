SELECT width_bucket(price, 0, 100, 10), count(*) FROM product GROUP BY 1 ORDER BY 1;
