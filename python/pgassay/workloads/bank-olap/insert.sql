\set aid random(1, 100000 * :scale)
\set tid random(1, 10 * :scale)
\set bid random(1, 1 * :scale)
\set delta random(0, 1000)
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime, filler)
VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP, 'insert');
