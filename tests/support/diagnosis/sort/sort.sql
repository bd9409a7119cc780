SELECT count(*) FROM (SELECT id FROM counter ORDER BY md5(id::text)) AS sorted;
