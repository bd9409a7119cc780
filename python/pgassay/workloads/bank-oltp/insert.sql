-- Ten history rows of random accounts; teller and branch follow from the account.
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
\set delta random(0, 1000)
\set tellers 10 * :scale
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
SELECT aid % :tellers + 1, (aid - 1) / 100000 + 1, aid, :delta, CURRENT_TIMESTAMP, 'insert'
  FROM unnest(ARRAY[:a0, :a1, :a2, :a3, :a4, :a5, :a6, :a7, :a8, :a9]::int[]) AS aid;
