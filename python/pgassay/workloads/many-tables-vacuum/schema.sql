-- All tables are made in one transaction, which locks each: above a scale of about 60 raise
-- max_locks_per_transaction.
DO $$
BEGIN
    FOR i IN 1 .. 100 * :scale LOOP
        EXECUTE format('CREATE TABLE t_%s (id int)', i);
    END LOOP;
END $$;
