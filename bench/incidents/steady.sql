\set aid random(1, 1000000)
\set customer random(1, 100000)
\set page random(1, 100000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
SELECT sum(total) FROM orders WHERE customer = :customer;
SELECT count(*) FROM visits WHERE page = :page;
END;
