-- A session makes its temporary tables before its first transaction, as applications with a pool do:
-- 50 for each unit of scale, each with a primary key and a TOAST table. Each takes four locks, of the
-- session that makes it and, with ON COMMIT DELETE ROWS, of every COMMIT.
CREATE FUNCTION make_temporary_tables(number int, at_commit text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('pg_temp.t_1') IS NULL THEN
        FOR i IN 1 .. number LOOP
            EXECUTE format(
                'CREATE TEMPORARY TABLE t_%s (id bigint PRIMARY KEY, value text) ON COMMIT %s ROWS',
                i, at_commit);
        END LOOP;
    END IF;
END $$;

CREATE TABLE kept (
    id    bigint NOT NULL,
    value text   NOT NULL
);
