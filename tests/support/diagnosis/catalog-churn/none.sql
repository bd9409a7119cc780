SELECT count(*) FROM (SELECT id, value FROM source LIMIT 10) AS work;
