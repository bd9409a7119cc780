INSERT INTO account
SELECT id, 1000000, 'account'
  FROM generate_series(1, 2000 * :scale::bigint) AS id;

ALTER TABLE account ADD PRIMARY KEY (id);

-- Fifty payments of each account, far apart. With as many as a statement shows, the planner would
-- choose one plan or another by chance.
INSERT INTO ledger
SELECT 1 + n % (2000 * :scale), n * 7919 % 5000, timestamptz '2026-01-01' + n * interval '1 second'
  FROM generate_series(1, 100000 * :scale::bigint) AS n;
