INSERT INTO item
SELECT id, 0, repeat('x', 200) FROM generate_series(1, :scale * 10000) AS id;
ALTER TABLE item ADD PRIMARY KEY (id);
