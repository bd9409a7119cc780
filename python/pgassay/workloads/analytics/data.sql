INSERT INTO region (id, name)
VALUES (1, 'Africa'), (2, 'Americas'), (3, 'Asia'), (4, 'Europe'), (5, 'Oceania');

INSERT INTO country (id, name, region_id)
SELECT id, name, (id - 1) / 5 + 1
  FROM unnest(ARRAY['Egypt', 'Ghana', 'Kenya', 'Morocco', 'Nigeria',
                    'Argentina', 'Brazil', 'Canada', 'Chile', 'Mexico',
                    'India', 'Indonesia', 'Japan', 'Korea', 'Vietnam',
                    'France', 'Germany', 'Italy', 'Poland', 'Spain',
                    'Australia', 'Fiji', 'New Zealand', 'Samoa', 'Tonga'])
       WITH ORDINALITY AS listed (name, id);

INSERT INTO supplier (id, name, address, country_id, phone, balance, note)
SELECT id, 'supplier ' || lpad(id::text, 9, '0'), 'street ' || left(md5('s' || id), 8 + id % 24),
       country, country + 10 || '-' || 1000000 + id * 7919::bigint % 9000000,
       (floor(random() * 1100000) - 100000) / 100,
       CASE WHEN id % 200 = 7 THEN 'complaints of customers ' ELSE '' END || md5('n' || id)
  FROM (SELECT id, 1 + floor(random() * 25)::int AS country
          FROM generate_series(1, 1000 * :scale) AS id) AS drawn;

-- A number that was drawn is taken apart into words: its digits in a base of their count.
INSERT INTO product (id, name, maker, brand, kind, size, container, price, note)
SELECT id, word[1 + words % 40] || ' ' || word[1 + words / 40 % 40] || ' '
       || word[1 + words / 1600 % 40] || ' ' || word[1 + words / 64000 % 40] || ' '
       || word[1 + words / 2560000 % 40],
       'maker ' || 1 + brand / 5, 'brand ' || 11 + brand / 5 * 10 + brand % 5,
       grade[1 + kind / 25] || ' ' || finish[1 + kind / 5 % 5] || ' ' || material[1 + kind % 5],
       1 + floor(random() * 50), span[1 + container / 8] || ' ' || form[1 + container % 8],
       500 + id * 37::bigint % 150001 / 100.0, left(md5('p' || id), 5 + id % 18)
  FROM (SELECT id, floor(random() * 102400000)::int AS words, floor(random() * 25)::int AS brand,
               floor(random() * 150)::int AS kind, floor(random() * 40)::int AS container
          FROM generate_series(1, 20000 * :scale) AS id) AS drawn,
       (SELECT ARRAY['amber', 'apricot', 'azure', 'basalt', 'birch', 'bronze', 'cedar', 'chalk',
                     'cherry', 'clay', 'cobalt', 'copper', 'coral', 'cream', 'ebony', 'emerald',
                     'fern', 'flax', 'garnet', 'ginger', 'granite', 'hazel', 'indigo', 'ivory',
                     'jade', 'linen', 'maple', 'mint', 'moss', 'ochre', 'olive', 'onyx',
                     'opal', 'pearl', 'rust', 'saffron', 'sand', 'slate', 'teal', 'walnut'] AS word,
               ARRAY['basic', 'standard', 'compact', 'large', 'deluxe', 'promotional'] AS grade,
               ARRAY['brushed', 'polished', 'painted', 'coated', 'raw'] AS finish,
               ARRAY['steel', 'copper', 'nickel', 'brass', 'tin'] AS material,
               ARRAY['small', 'medium', 'big', 'huge', 'gift'] AS span,
               ARRAY['case', 'box', 'bag', 'jar', 'pack', 'can', 'drum', 'crate'] AS form) AS texts;

INSERT INTO offer (product_id, supplier_id, available, cost, note)
SELECT product_id, (product_id + nth * 250 * :scale) % (1000 * :scale) + 1,
       1 + floor(random() * 9999), (100 + floor(random() * 99901)) / 100,
       left(md5('a' || key) || md5('b' || key) || md5('c' || key) || md5('d' || key)
            || md5('e' || key) || md5('f' || key), 49 + product_id % 143)
  FROM (SELECT product_id, nth, product_id || '/' || nth AS key
          FROM generate_series(1, 20000 * :scale) AS product_id,
               generate_series(0, 3) AS nth) AS offered;

INSERT INTO customer (id, name, address, country_id, phone, balance, segment, note)
SELECT id, 'customer ' || lpad(id::text, 9, '0'), 'street ' || left(md5('c' || id), 8 + id % 24),
       country, country + 10 || '-' || 1000000 + id * 7919::bigint % 9000000,
       (floor(random() * 1100000) - 100000) / 100,
       (ARRAY['households', 'builders', 'factories', 'offices', 'shops'])[1 + segment],
       left(md5('x' || id) || md5('y' || id) || md5('z' || id) || md5('w' || id), 29 + id % 88)
  FROM (SELECT id, 1 + floor(random() * 25)::int AS country,
               floor(random() * 5)::int AS segment
          FROM generate_series(1, 15000 * :scale) AS id) AS drawn;

-- Every third customer never buys. What lies after 2021-06-17 has not happened yet.
WITH draft AS MATERIALIZED (
    SELECT id, CASE WHEN buyer % 3 = 0 THEN buyer - 1 ELSE buyer END AS customer_id, placed_on,
           lines, priority, clerk, words
      FROM (SELECT id, 1 + floor(random() * 15000 * :scale)::int AS buyer,
                   date '2018-01-01' + floor(random() * 2406)::int AS placed_on,
                   1 + floor(random() * 7)::int AS lines, floor(random() * 5)::int AS priority,
                   1 + floor(random() * 100 * :scale)::int AS clerk,
                   floor(random() * 191102976)::int AS words
              FROM generate_series(1, 150000 * :scale) AS id) AS drawn
), line AS (
    INSERT INTO purchase_line (purchase_id, number, product_id, supplier_id, quantity, price,
                               discount, tax, returned, status, shipped_on, promised_on,
                               received_on, instruction, mode, note)
    SELECT purchase_id, number, product_id,
           (product_id + nth * 250 * :scale) % (1000 * :scale) + 1, quantity,
           quantity * (500 + product_id * 37::bigint % 150001 / 100.0), discount / 100.0,
           tax / 100.0,
           CASE WHEN shipped_on + days > date '2021-06-17' THEN 'N'
                WHEN kept THEN 'K' ELSE 'R' END,
           CASE WHEN shipped_on > date '2021-06-17' THEN 'O' ELSE 'D' END,
           shipped_on, promised_on, shipped_on + days,
           (ARRAY['hand over', 'collect cash', 'leave at the door', 'none'])[1 + instruction],
           (ARRAY['air', 'express', 'rail', 'road', 'sea', 'mail', 'pickup'])[1 + mode],
           word[1 + words % 24] || ' ' || word[1 + words / 24 % 24] || ' '
           || word[1 + words / 576 % 24] || ' ' || word[1 + words / 13824 % 24]
      FROM (SELECT draft.id AS purchase_id, number,
                   1 + floor(random() * 20000 * :scale)::int AS product_id,
                   floor(random() * 4)::int AS nth, 1 + floor(random() * 50)::int AS quantity,
                   floor(random() * 11)::int AS discount, floor(random() * 9)::int AS tax,
                   placed_on + 1 + floor(random() * 121)::int AS shipped_on,
                   placed_on + 30 + floor(random() * 61)::int AS promised_on,
                   1 + floor(random() * 30)::int AS days, random() < 0.5 AS kept,
                   floor(random() * 4)::int AS instruction, floor(random() * 7)::int AS mode,
                   floor(random() * 331776)::int AS words
              FROM draft CROSS JOIN LATERAL generate_series(1, draft.lines) AS number) AS drawn,
           (SELECT ARRAY['careful', 'prompt', 'urgent', 'special', 'regular', 'final', 'open',
                         'sealed', 'heavy', 'light', 'late', 'early', 'parcel', 'pallet', 'carton',
                         'request', 'invoice', 'deposit', 'account', 'return', 'arrives', 'leaves',
                         'waits', 'moves'] AS word) AS texts
    RETURNING purchase_id, price * (1 - discount) * (1 + tax) AS amount, status
)
INSERT INTO purchase (id, customer_id, status, total, placed_on, priority, clerk,
                      shipping_priority, note)
SELECT draft.id, customer_id,
       CASE WHEN shipped = billed.lines THEN 'D' WHEN shipped = 0 THEN 'O' ELSE 'P' END,
       billed.total, placed_on,
       (ARRAY['1 urgent', '2 high', '3 medium', '4 low', '5 none'])[1 + priority],
       'clerk ' || lpad(clerk::text, 9, '0'), 0,
       word[1 + words % 24] || ' ' || word[1 + words / 24 % 24] || ' '
       || word[1 + words / 576 % 24] || ' ' || word[1 + words / 13824 % 24] || ' '
       || word[1 + words / 331776 % 24] || ' ' || word[1 + words / 7962624 % 24]
  FROM draft
  JOIN (SELECT purchase_id, round(sum(amount), 2) AS total, count(*) AS lines,
               count(*) FILTER (WHERE status = 'D') AS shipped
          FROM line
         GROUP BY purchase_id) AS billed ON billed.purchase_id = draft.id,
       (SELECT ARRAY['careful', 'prompt', 'urgent', 'special', 'regular', 'final', 'open',
                     'sealed', 'heavy', 'light', 'late', 'early', 'parcel', 'pallet', 'carton',
                     'request', 'invoice', 'deposit', 'account', 'return', 'arrives', 'leaves',
                     'waits', 'moves'] AS word) AS texts
 ORDER BY draft.id;

ALTER TABLE region ADD PRIMARY KEY (id);
ALTER TABLE country ADD PRIMARY KEY (id);
ALTER TABLE supplier ADD PRIMARY KEY (id);
ALTER TABLE product ADD PRIMARY KEY (id);
ALTER TABLE offer ADD PRIMARY KEY (product_id, supplier_id);
ALTER TABLE customer ADD PRIMARY KEY (id);
ALTER TABLE purchase ADD PRIMARY KEY (id);
ALTER TABLE purchase_line ADD PRIMARY KEY (purchase_id, number);
CREATE INDEX offer_by_supplier ON offer (supplier_id);
CREATE INDEX purchase_by_customer ON purchase (customer_id);
CREATE INDEX purchase_by_date ON purchase (placed_on);
CREATE INDEX line_by_product ON purchase_line (product_id, supplier_id);
CREATE INDEX line_by_shipment ON purchase_line (shipped_on);
