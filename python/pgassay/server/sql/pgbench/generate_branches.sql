INSERT INTO pgbench_branches (bid, bbalance)
SELECT bid, 0 FROM generate_series(1, {scale}) AS bid
