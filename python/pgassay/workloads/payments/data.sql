INSERT INTO account
SELECT id, id % (10 * :scale), 1000000, 'account'
  FROM generate_series(1, 100000 * :scale::bigint) AS id;

INSERT INTO till
SELECT id, 0
  FROM generate_series(1, 10 * :scale) AS id;

ALTER TABLE account ADD PRIMARY KEY (id);
ALTER TABLE till ADD PRIMARY KEY (id);
