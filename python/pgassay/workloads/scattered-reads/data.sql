INSERT INTO measurement
SELECT id, 1 + floor(random() * 100 * :scale)::int, 1 + floor(random() * 100000 * :scale)::int,
       random(), left(md5(id::text) || md5('n' || id), 60)
  FROM generate_series(1, 100000 * :scale) AS id;

ALTER TABLE measurement ADD PRIMARY KEY (id);
CREATE INDEX measurement_by_sensor ON measurement (sensor);
