-- A session makes its temporary tables before its first transaction, as applications with a pool do.
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
