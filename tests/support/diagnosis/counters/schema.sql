-- The index on the counter makes each update leave a dead row that only VACUUM removes.
CREATE TABLE counter (
    id int    NOT NULL,
    n  bigint NOT NULL
);

CREATE FUNCTION use_transaction_ids(number int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. number LOOP
        BEGIN  -- a subtransaction that writes takes a transaction id
            INSERT INTO counter VALUES (0, i);
        EXCEPTION WHEN division_by_zero THEN NULL;
        END;
    END LOOP;
END $$;
