SELECT city, count(*) FROM customer GROUP BY city ORDER BY 2 DESC, 1 LIMIT 20;
