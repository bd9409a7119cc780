INSERT INTO part SELECT id, id, id % :scale FROM generate_series(1, 10000) AS id;
