-- Not in the order of the key on disk, and alike on every version.
INSERT INTO item
SELECT id FROM generate_series(1, 100000 * :scale) AS id ORDER BY md5(id::text) COLLATE "C";

ALTER TABLE item ADD PRIMARY KEY (id);
