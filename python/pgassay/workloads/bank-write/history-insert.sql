-- A thousand INSERTs in one call and one transaction, without a round trip between them. A single
-- INSERT of a thousand rows would write the same, but start the executor once, not a thousand times.
-- DO needs no function in the schema; it takes no parameters, so the server draws the numbers, once
-- a call.
DO $$
DECLARE
    account int;
    teller  int;
    branch  int;
    amount  int := floor(random() * 10001) - 5000;
BEGIN
    SELECT 1 + floor(random() * max(aid)) INTO account FROM pgbench_accounts;
    SELECT 1 + floor(random() * max(tid)) INTO teller FROM pgbench_tellers;
    SELECT 1 + floor(random() * max(bid)) INTO branch FROM pgbench_branches;
    FOR i IN 1 .. 1000 LOOP
        INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
        VALUES (teller, branch, account, amount, CURRENT_TIMESTAMP);
    END LOOP;
END $$;
