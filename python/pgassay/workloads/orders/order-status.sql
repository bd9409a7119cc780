-- What has become of a customer's last purchase? 60 customers in a hundred are found by last name.
\set warehouse random(1, :scale)
\set district random(1, 10)
\set customer ((random(0, 1023) | random(1, 3000)) + 577) % 3000 + 1
\set name ((random(0, 255) | random(0, 999)) + 126) % 1000
\set named random(1, 100)
BEGIN;
\if :named <= 60
SELECT id AS customer
  FROM (SELECT id, row_number() OVER (ORDER BY first_name) AS place, count(*) OVER () AS alike
          FROM customer, (SELECT ARRAY['Ka', 'Lom', 'Mir', 'Ne', 'Pul', 'Ras', 'So', 'Tev', 'Vin',
                                       'Zol'] AS syllable) AS names
         WHERE warehouse_id = :warehouse AND district_id = :district
           AND last_name = syllable[:name / 100 + 1] || syllable[:name / 10 % 10 + 1]
                           || syllable[:name % 10 + 1]) AS named
 WHERE place = (alike + 1) / 2 \gset
\endif
SELECT first_name, last_name, balance
  FROM customer
 WHERE warehouse_id = :warehouse AND district_id = :district AND id = :customer;
SELECT id AS purchase
  FROM purchase
 WHERE warehouse_id = :warehouse AND district_id = :district AND customer_id = :customer
 ORDER BY id DESC
 LIMIT 1 \gset
SELECT product_id, supplier_id, quantity, amount, delivered_at
  FROM purchase_line
 WHERE warehouse_id = :warehouse AND district_id = :district AND purchase_id = :purchase;
COMMIT;
