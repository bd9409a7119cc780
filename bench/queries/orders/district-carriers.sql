SELECT carrier, count(*), avg(line_count) FROM purchase
 WHERE warehouse_id = 1 AND district_id = 7 GROUP BY carrier ORDER BY carrier;
