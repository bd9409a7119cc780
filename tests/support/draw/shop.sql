SET password_encryption = 'scram-sha-256';
CREATE EXTENSION pg_stat_statements;
CREATE ROLE app LOGIN PASSWORD 's3cret word';
CREATE ROLE looker LOGIN PASSWORD 's3cret word';
GRANT pg_monitor TO looker;
CREATE SCHEMA shop AUTHORIZATION app;
GRANT USAGE ON SCHEMA shop TO looker;
ALTER ROLE app SET search_path = shop, public;
ALTER ROLE app SET jit = off;
SET search_path = shop;
CREATE TYPE state AS ENUM ('open', 'paid', 'sent');
CREATE TABLE customer (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE, born date, balance numeric(12, 2) NOT NULL DEFAULT 0
);
CREATE TABLE "Order Line" (
  "Order" uuid NOT NULL, "No" int NOT NULL, sku varchar(20) NOT NULL, price numeric NOT NULL, PRIMARY KEY ("Order", "No")
);
CREATE TABLE orders (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), customer int NOT NULL REFERENCES customer, status state NOT NULL,
  placed timestamptz NOT NULL, tags text[] NOT NULL DEFAULT '{}', about jsonb NOT NULL DEFAULT '{}', note text
);
CREATE INDEX ON orders (customer);
CREATE INDEX ON orders (placed);
CREATE TABLE event (id bigint NOT NULL, at timestamptz NOT NULL, kind smallint NOT NULL, ratio float8, fine bool, PRIMARY KEY (id, at))
  PARTITION BY RANGE (at);
CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE TABLE audit (id bigserial PRIMARY KEY, at timestamptz DEFAULT now(), what text);
CREATE TABLE friend (
  customer int REFERENCES customer, friend int REFERENCES customer, PRIMARY KEY (customer, friend)
);
CREATE TABLE seat (hall int, no int, PRIMARY KEY (hall, no));
CREATE TABLE taken (
  customer int REFERENCES customer, hall int, no int, PRIMARY KEY (customer, hall, no), FOREIGN KEY (hall, no) REFERENCES seat
);
CREATE EXTENSION citext SCHEMA public;
CREATE TABLE alias (name public.citext PRIMARY KEY);
CREATE TABLE login (customer int REFERENCES customer, at timestamptz);
CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO shop.audit (what) VALUES (TG_OP); RETURN NEW; END $$;
CREATE TRIGGER audited AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION audited();
INSERT INTO customer (email, born, balance)
  SELECT 'name' || n || '@example.org', '1970-01-01'::date + n, n FROM generate_series(1, 500) AS n;
INSERT INTO orders (customer, status, placed, tags, about, note)
  SELECT 1 + n % 500, (enum_range(NULL::state))[1 + n % 3], '2026-01-01'::timestamptz + n * interval '20 minutes',
         ARRAY['a' || n % 7, 'it''s "b"'], jsonb_build_object('colour', 'c' || n % 5, 'weight', n), nullif('note ' || n, 'note 7')
    FROM generate_series(1, 3000) AS n;
INSERT INTO "Order Line" SELECT id, n, 'sku' || n, n * 1.5 FROM orders, generate_series(1, 2) AS n;
INSERT INTO event SELECT n, '2026-01-01'::timestamptz + n * interval '15 minutes', n % 10, n / 3.0, n % 2 = 0 FROM generate_series(1, 5000) AS n;
INSERT INTO friend SELECT n, 1 + n % 400 FROM generate_series(1, 400) AS n;
INSERT INTO seat SELECT n, 100 * n FROM generate_series(1, 50) AS n;
INSERT INTO taken SELECT n, 1 + n % 50, 100 * (1 + n % 50) FROM generate_series(1, 400) AS n;
INSERT INTO alias SELECT 'Alias' || n FROM generate_series(1, 400) AS n;
CREATE VIEW sent AS SELECT o.id AS number, c.email AS whose, o.placed FROM orders o JOIN customer c ON c.id = o.customer;
GRANT ALL ON ALL TABLES IN SCHEMA shop TO app;
GRANT ALL ON ALL SEQUENCES IN SCHEMA shop TO app;
ANALYZE;
