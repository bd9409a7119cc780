INSERT INTO entry
SELECT id, md5(id::text), timestamptz '2026-01-01 00:00:00+00'
  FROM generate_series(1, 100000 * :scale) AS id;

ALTER TABLE entry ADD PRIMARY KEY (id);
