INSERT INTO tiny SELECT id, md5(id::text) FROM generate_series(1, 20) AS id;
CREATE INDEX tiny_by_id ON tiny (id);
