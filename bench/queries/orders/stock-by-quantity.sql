SELECT quantity / 10, count(*) FROM stock GROUP BY 1 ORDER BY 1;
