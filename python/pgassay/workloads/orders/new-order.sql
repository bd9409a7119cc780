-- A customer orders 5 to 15 products; one line in a hundred comes from another warehouse, and one
-- purchase in a hundred names a product that does not exist, so it is rolled back.
-- pgbench's scripts have no loops, so one statement makes all lines: the bits of a hash of each
-- line's number and of one random number choose product, warehouse and quantity.
\set warehouse random(1, :scale)
\set district random(1, 10)
\set customer ((random(0, 1023) | random(1, 3000)) + 577) % 3000 + 1
\set lines random(5, 15)
\set draw random(0, 4611686018427387903)
\set mistaken random(1, 100)
BEGIN;
SELECT w.tax AS warehouse_tax, c.discount
  FROM warehouse w JOIN customer c ON c.warehouse_id = w.id
 WHERE w.id = :warehouse AND c.district_id = :district AND c.id = :customer \gset
UPDATE district SET next_purchase = next_purchase + 1
 WHERE warehouse_id = :warehouse AND id = :district
RETURNING next_purchase - 1 AS purchase, tax AS district_tax \gset
INSERT INTO purchase_line (warehouse_id, district_id, purchase_id, number, product_id, supplier_id,
                           quantity, amount, label)
SELECT :warehouse::int, :district::int, :purchase::int, line.number, p.id, s.warehouse_id,
       line.quantity, line.quantity * p.price, s.labels[:district]
  FROM (SELECT number,
               CASE WHEN number = :lines AND :mistaken = 1 THEN 0
                    ELSE (((bits & 8191) | ((bits >> 13 & 2097151) % 100000 + 1)) + 7911)
                         % 100000 + 1
               END AS product_id,
               CASE WHEN (bits >> 34 & 1048575) % 100 > 0 THEN :warehouse::bigint
                    ELSE (:warehouse + (bits & 1048575) % greatest(:scale - 1, 1)) % :scale + 1
               END AS supplier_id,
               (bits >> 54 & 1023) % 10 + 1 AS quantity
          FROM (SELECT number, hashint8extended(number, :draw) AS bits
                  FROM generate_series(1, 15) AS number
                 WHERE number <= :lines) AS drawn) AS line
  JOIN product p ON p.id = line.product_id
  JOIN stock s ON s.warehouse_id = line.supplier_id AND s.product_id = line.product_id;
INSERT INTO purchase (warehouse_id, district_id, id, customer_id, placed_at, line_count, all_local)
SELECT warehouse_id, district_id, purchase_id, :customer::int, now(), count(*),
       bool_and(supplier_id = warehouse_id)
  FROM purchase_line
 WHERE warehouse_id = :warehouse AND district_id = :district AND purchase_id = :purchase
 GROUP BY warehouse_id, district_id, purchase_id;
INSERT INTO open_purchase (warehouse_id, district_id, purchase_id)
VALUES (:warehouse, :district, :purchase);
-- Rows of stock are locked in the order of their keys, so that two purchases cannot deadlock.
SELECT warehouse_id, product_id, quantity
  FROM stock
 WHERE (warehouse_id, product_id) IN (
           SELECT supplier_id, product_id FROM purchase_line
            WHERE warehouse_id = :warehouse AND district_id = :district
              AND purchase_id = :purchase)
 ORDER BY warehouse_id, product_id
   FOR NO KEY UPDATE;
UPDATE stock
   SET quantity = stock.quantity - taken.quantity
                  + CASE WHEN stock.quantity - taken.quantity < 10 THEN 91 ELSE 0 END,
       sold = sold + taken.quantity,
       purchases = purchases + taken.lines,
       remote_purchases = remote_purchases
                          + CASE WHEN warehouse_id = :warehouse THEN 0 ELSE taken.lines END
  FROM (SELECT supplier_id, product_id, sum(quantity)::int AS quantity, count(*)::int AS lines
          FROM purchase_line
         WHERE warehouse_id = :warehouse AND district_id = :district AND purchase_id = :purchase
         GROUP BY supplier_id, product_id) AS taken
 WHERE stock.warehouse_id = taken.supplier_id AND stock.product_id = taken.product_id;
SELECT count(*) AS found,
       sum(amount) * (1.0 - :discount) * (1.0 + :warehouse_tax + :district_tax) AS total
  FROM purchase_line
 WHERE warehouse_id = :warehouse AND district_id = :district AND purchase_id = :purchase \gset
\if :found = :lines
COMMIT;
\else
ROLLBACK;
\endif
