-- One random account, unless another session has locked it.
\set aid random(1, 100000 * :scale)
\set delta random(1, 11)
WITH free AS (
    SELECT aid FROM pgbench_accounts WHERE aid = :aid FOR UPDATE SKIP LOCKED
)
UPDATE pgbench_accounts AS account
   SET abalance = account.abalance + :delta
  FROM free
 WHERE account.aid = free.aid;
