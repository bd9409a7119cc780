INSERT INTO block
SELECT id, 0, (SELECT string_agg(md5(id || ' ' || part), '') FROM generate_series(1, 61) AS part)
  FROM generate_series(1, 12800 * :scale) AS id;

ALTER TABLE block ADD PRIMARY KEY (id);
