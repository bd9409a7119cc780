SELECT district_id, count(*) FROM open_purchase GROUP BY district_id;
