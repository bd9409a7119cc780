INSERT INTO source SELECT id, md5(id::text) FROM generate_series(1, 1000) AS id;
ALTER TABLE source ADD PRIMARY KEY (id);
