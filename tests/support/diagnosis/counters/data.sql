INSERT INTO counter SELECT id, id FROM generate_series(1, 1000 * :scale) AS id;
CREATE INDEX ON counter (id);
CREATE INDEX ON counter (n);
