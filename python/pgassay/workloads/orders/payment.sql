-- A customer pays at a district, 15 in a hundred at one of another warehouse; 60 in a hundred are
-- found by their last name. Rows are locked in the order warehouse, district, customer.
\set warehouse random(1, :scale)
\set district random(1, 10)
\set amount random(100, 500000) / 100.0
\set customer_warehouse :warehouse
\set customer_district :district
\set away random(1, 100)
\if :away <= 15 and :scale > 1
\set customer_warehouse (:warehouse + random(0, :scale - 2)) % :scale + 1
\set customer_district random(1, 10)
\endif
\set customer ((random(0, 1023) | random(1, 3000)) + 577) % 3000 + 1
\set name ((random(0, 255) | random(0, 999)) + 126) % 1000
\set named random(1, 100)
BEGIN;
UPDATE warehouse SET received = received + :amount
 WHERE id = :warehouse
RETURNING name, street, city, zip;
UPDATE district SET received = received + :amount
 WHERE warehouse_id = :warehouse AND id = :district
RETURNING name, street, city, zip;
\if :named <= 60
SELECT id AS customer
  FROM (SELECT id, row_number() OVER (ORDER BY first_name) AS place, count(*) OVER () AS alike
          FROM customer, (SELECT ARRAY['Ka', 'Lom', 'Mir', 'Ne', 'Pul', 'Ras', 'So', 'Tev', 'Vin',
                                       'Zol'] AS syllable) AS names
         WHERE warehouse_id = :customer_warehouse AND district_id = :customer_district
           AND last_name = syllable[:name / 100 + 1] || syllable[:name / 10 % 10 + 1]
                           || syllable[:name % 10 + 1]) AS named
 WHERE place = (alike + 1) / 2 \gset
\endif
UPDATE customer
   SET balance = balance - :amount, paid = paid + :amount, payments = payments + 1,
       notes = CASE WHEN credit = 'good' THEN notes
                    ELSE left(format('%s %s %s %s %s: %s; %s', id, district_id, warehouse_id,
                                     :district::int, :warehouse::int, :amount::numeric, notes),
                              500)
               END
 WHERE warehouse_id = :customer_warehouse AND district_id = :customer_district AND id = :customer
RETURNING first_name, last_name, street, city, zip, phone, since, credit, credit_limit, discount,
          balance;
INSERT INTO payment (customer_warehouse_id, customer_district_id, customer_id, warehouse_id,
                     district_id, paid_at, amount, remark)
VALUES (:customer_warehouse, :customer_district, :customer, :warehouse, :district, now(), :amount,
        'paid at the counter');
COMMIT;
