INSERT INTO pgbench_tellers (tid, bid, tbalance)
SELECT tid, (tid - 1) / 10 + 1, 0 FROM generate_series(1, 10 * {scale}) AS tid
