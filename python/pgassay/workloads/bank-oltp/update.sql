-- Ten random accounts. Those that another session has locked are left out, so nobody waits and
-- nothing deadlocks.
\set a0 random(1, 100000 * :scale)
\set a1 random(1, 100000 * :scale)
\set a2 random(1, 100000 * :scale)
\set a3 random(1, 100000 * :scale)
\set a4 random(1, 100000 * :scale)
\set a5 random(1, 100000 * :scale)
\set a6 random(1, 100000 * :scale)
\set a7 random(1, 100000 * :scale)
\set a8 random(1, 100000 * :scale)
\set a9 random(1, 100000 * :scale)
\set delta random(1, 11)
WITH free AS (
    SELECT aid
      FROM pgbench_accounts
     WHERE aid IN (:a0, :a1, :a2, :a3, :a4, :a5, :a6, :a7, :a8, :a9)
       FOR UPDATE SKIP LOCKED
)
UPDATE pgbench_accounts AS account
   SET abalance = account.abalance + :delta
  FROM free
 WHERE account.aid = free.aid;
