INSERT INTO pgbench_accounts (aid, bid, abalance, filler)
SELECT aid, (aid - 1) / 100000 + 1, 0, '' FROM generate_series(1, 100000 * {scale}::bigint) AS aid
