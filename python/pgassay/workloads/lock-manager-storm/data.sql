INSERT INTO part SELECT id, id, id % 100 FROM generate_series(1, 10000 * :scale) AS id;
INSERT INTO wide SELECT id, id, id % 100 FROM generate_series(1, 10000 * :scale) AS id;

ALTER TABLE wide ADD PRIMARY KEY (id);
DO $$
BEGIN
    FOR i IN 1 .. 39 LOOP
        CREATE INDEX ON wide (other);
    END LOOP;
END $$;
