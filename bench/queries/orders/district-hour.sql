SELECT date_trunc('hour', placed_at), count(*) FROM purchase
 WHERE warehouse_id = 1 AND district_id = 4 GROUP BY 1;
