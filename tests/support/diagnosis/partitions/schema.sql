CREATE TABLE part (
    id    bigint NOT NULL,
    other bigint NOT NULL,
    month int    NOT NULL
) PARTITION BY RANGE (month);
CREATE INDEX ON part (id);
CREATE INDEX ON part (other);
DO $$
BEGIN
    FOR i IN 0 .. :scale - 1 LOOP
        EXECUTE format('CREATE TABLE part_%s PARTITION OF part FOR VALUES FROM (%s) TO (%s)', i, i, i + 1);
    END LOOP;
END $$;
