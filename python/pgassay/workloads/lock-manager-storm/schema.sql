-- A session has fast-path slots for 16 locks of tables and indexes up to PostgreSQL 17, and for
-- max_locks_per_transaction from 18 on. What does not fit is in the shared lock table, which the
-- sessions' LWLocks LockManager protect.

-- 10 000 rows for each unit of scale in 100 partitions with two indexes each.
CREATE TABLE part (
    id    bigint NOT NULL,
    other bigint NOT NULL,
    month int    NOT NULL
) PARTITION BY LIST (month);
CREATE INDEX ON part (id);
CREATE INDEX ON part (other);

-- The same rows in one table with 40 indexes.
CREATE TABLE wide (
    id    bigint NOT NULL,
    other bigint NOT NULL,
    month int    NOT NULL
);

DO $$
BEGIN
    FOR i IN 0 .. 99 LOOP
        EXECUTE format('CREATE TABLE part_%s PARTITION OF part FOR VALUES IN (%s)', i, i);
    END LOOP;
END $$;
