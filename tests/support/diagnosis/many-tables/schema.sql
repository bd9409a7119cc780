DO $$
BEGIN
    FOR i IN 1 .. 100 * :scale LOOP
        EXECUTE format('CREATE TABLE t_%s (id int)', i);
    END LOOP;
END $$;
