INSERT INTO product (id, picture, name, price, note)
SELECT id, 1 + id % 10000, 'product ' || left(md5(id::text), 6 + id % 11),
       (100 + id * 7919 % 9901) / 100.0,
       left(md5('a' || id) || md5('b' || id), 26 + id % 25)
  FROM generate_series(1, 100000) AS id;

INSERT INTO warehouse (id, name, street, city, zip, tax, received)
SELECT id, 'warehouse ' || id, 'street ' || left(md5(id::text), 12), 'city ' || id % 1000,
       lpad((id % 10000)::text, 4, '0') || '11111', id * 37 % 2001 / 10000.0, 300000
  FROM generate_series(1, :scale) AS id;

INSERT INTO district (warehouse_id, id, name, street, city, zip, tax, received, next_purchase)
SELECT w, d, 'district ' || d, 'street ' || left(md5(w || '/' || d), 12), 'city ' || d % 1000,
       lpad((d * w % 10000)::text, 4, '0') || '11111', (w * 41 + d * 173) % 2001 / 10000.0,
       30000, 3001
  FROM generate_series(1, :scale) AS w, generate_series(1, 10) AS d;

-- Last names are of three syllables: each of the 1000 possible ones occurs in every district.
INSERT INTO customer (warehouse_id, district_id, id, first_name, last_name, street, city, zip,
                      phone, since, credit, credit_limit, discount, balance, paid, payments,
                      deliveries, notes)
SELECT w, d, c, left(md5('f' || key), 8 + c % 9),
       syllable[name / 100 + 1] || syllable[name / 10 % 10 + 1] || syllable[name % 10 + 1],
       'street ' || left(md5('s' || key), 12), 'city ' || c % 1000,
       lpad((c % 10000)::text, 4, '0') || '11111', '+' || 10000000000 + c * 7919,
       timestamptz '2025-01-01 00:00:00+00', CASE WHEN random() < 0.1 THEN 'poor' ELSE 'good' END,
       50000, floor(random() * 5001) / 10000.0, -10, 10, 1, 0,
       left(md5('1' || key) || md5('2' || key) || md5('3' || key) || md5('4' || key)
            || md5('5' || key) || md5('6' || key) || md5('7' || key) || md5('8' || key)
            || md5('9' || key) || md5('10' || key) || md5('11' || key) || md5('12' || key)
            || md5('13' || key) || md5('14' || key) || md5('15' || key) || md5('16' || key),
            300 + (c * 31 + d) % 201)
  FROM (SELECT w, d, c, w || '/' || d || '/' || c AS key,
               CASE WHEN c <= 1000 THEN c - 1
                    ELSE ((floor(random() * 256)::int | floor(random() * 1000)::int) + 41) % 1000
               END AS name
          FROM generate_series(1, :scale) AS w, generate_series(1, 10) AS d,
               generate_series(1, 3000) AS c) AS drawn,
       (SELECT ARRAY['Ka', 'Lom', 'Mir', 'Ne', 'Pul', 'Ras', 'So', 'Tev', 'Vin', 'Zol']
               AS syllable) AS names;

INSERT INTO payment (customer_warehouse_id, customer_district_id, customer_id, warehouse_id,
                     district_id, paid_at, amount, remark)
SELECT w, d, c, w, d, timestamptz '2025-01-01 00:00:00+00', 10, 'deposit ' || left(md5(c::text), 8)
  FROM generate_series(1, :scale) AS w, generate_series(1, 10) AS d,
       generate_series(1, 3000) AS c;

-- Each customer of a district has one purchase, in an order that the factor 1009 shuffles; the
-- last 900 are not delivered.
INSERT INTO purchase (warehouse_id, district_id, id, customer_id, placed_at, carrier, line_count,
                      all_local)
SELECT w, d, id, (id * 1009 + d * 131 + w * 17) % 3000 + 1,
       timestamptz '2025-01-01 00:00:00+00',
       CASE WHEN id <= 2100 THEN 1 + floor(random() * 10) END, 5 + floor(random() * 11), true
  FROM generate_series(1, :scale) AS w, generate_series(1, 10) AS d,
       generate_series(1, 3000) AS id;

INSERT INTO open_purchase (warehouse_id, district_id, purchase_id)
SELECT w, d, id
  FROM generate_series(1, :scale) AS w, generate_series(1, 10) AS d,
       generate_series(2101, 3000) AS id;

INSERT INTO purchase_line (warehouse_id, district_id, purchase_id, number, product_id, supplier_id,
                           quantity, delivered_at, amount, label)
SELECT p.warehouse_id, p.district_id, p.id, number, 1 + floor(random() * 100000), p.warehouse_id,
       5, CASE WHEN p.carrier IS NOT NULL THEN p.placed_at END,
       CASE WHEN p.carrier IS NOT NULL THEN 0 ELSE (1 + floor(random() * 999999)) / 100 END,
       left(md5(number || '/' || p.id || '/' || p.district_id || '/' || p.warehouse_id), 24)
  FROM purchase p CROSS JOIN LATERAL generate_series(1, p.line_count) AS number;

INSERT INTO stock (warehouse_id, product_id, quantity, sold, purchases, remote_purchases, labels,
                   note)
SELECT w, id, 10 + floor(random() * 91), 0, 0, 0,
       ARRAY[left(md5('1/' || key), 24), left(md5('2/' || key), 24), left(md5('3/' || key), 24),
             left(md5('4/' || key), 24), left(md5('5/' || key), 24), left(md5('6/' || key), 24),
             left(md5('7/' || key), 24), left(md5('8/' || key), 24), left(md5('9/' || key), 24),
             left(md5('10/' || key), 24)],
       left(md5('a' || key) || md5('b' || key), 26 + id % 25)
  FROM (SELECT w, id, w || '/' || id AS key
          FROM generate_series(1, :scale) AS w, generate_series(1, 100000) AS id) AS stocked;

ALTER TABLE product ADD PRIMARY KEY (id);
ALTER TABLE warehouse ADD PRIMARY KEY (id);
ALTER TABLE district ADD PRIMARY KEY (warehouse_id, id);
ALTER TABLE customer ADD PRIMARY KEY (warehouse_id, district_id, id);
CREATE INDEX customer_by_name ON customer (warehouse_id, district_id, last_name, first_name);
ALTER TABLE purchase ADD PRIMARY KEY (warehouse_id, district_id, id);
CREATE INDEX purchase_by_customer ON purchase (warehouse_id, district_id, customer_id, id);
ALTER TABLE open_purchase ADD PRIMARY KEY (warehouse_id, district_id, purchase_id);
ALTER TABLE purchase_line ADD PRIMARY KEY (warehouse_id, district_id, purchase_id, number);
ALTER TABLE stock ADD PRIMARY KEY (warehouse_id, product_id);
