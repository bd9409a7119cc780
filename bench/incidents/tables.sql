-- What the steady load reads, and a table that was updated twice since its last VACUUM.
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
CREATE TABLE orders AS
    SELECT id, id % 100000 + 1 AS customer, id % 977 AS total, repeat('x', 60) AS note
    FROM generate_series(1, 400000) AS id;
CREATE INDEX orders_customer ON orders (customer);
CREATE TABLE visits AS
    SELECT id, id % 100000 + 1 AS page, repeat('x', 60) AS note
    FROM generate_series(1, 400000) AS id;
CREATE INDEX visits_page ON visits (page);
CREATE TABLE events AS
    SELECT id, id::bigint * 7919 % 250000 + 1 AS kind, id AS at, repeat('x', 60) AS note
    FROM generate_series(1, 500000) AS id;
CREATE INDEX events_kind ON events (kind);
CREATE INDEX events_at ON events (at);
CREATE TABLE bloated (id int, x int, note text) WITH (autovacuum_enabled = off);
INSERT INTO bloated SELECT id, id % 1000, repeat('x', 150) FROM generate_series(1, 1800000) AS id;
CREATE INDEX bloated_id ON bloated (id);
CREATE INDEX bloated_x ON bloated (x, id);
UPDATE bloated SET x = x + 1;
ANALYZE;
