INSERT INTO pgbench_branches (bid, bbalance)
SELECT id, 0 FROM generate_series(1, :scale) AS id;

INSERT INTO pgbench_tellers (tid, bid, tbalance)
SELECT id, (id - 1) / 10 + 1, 0 FROM generate_series(1, 10 * :scale) AS id;

INSERT INTO pgbench_accounts (aid, bid, abalance, filler)
SELECT id, (id - 1) / 100000 + 1, 0, '' FROM generate_series(1, 100000 * :scale) AS id;

ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);
