\set aid random(1, 1000000)
\set customer random(1, 100000)
\set page random(1, 100000)
\set kind random(1, 250000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
SELECT sum(total) FROM orders WHERE customer = :customer;
SELECT count(*) FROM visits WHERE page = :page;
SELECT at FROM events WHERE kind = :kind ORDER BY at LIMIT 1;
END;
