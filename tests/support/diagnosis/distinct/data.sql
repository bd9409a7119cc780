INSERT INTO item SELECT id FROM generate_series(1, 100000 * :scale) AS id;
ALTER TABLE item ADD PRIMARY KEY (id);
