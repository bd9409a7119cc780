SELECT count(*) FROM (SELECT DISTINCT id FROM item) AS once;
