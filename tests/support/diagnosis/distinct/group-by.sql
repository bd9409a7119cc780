SELECT count(*) FROM (SELECT id FROM item GROUP BY id) AS once;
