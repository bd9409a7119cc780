-- What would small lines of a year have brought more without their discount?
\set year random(2019, 2023)
\set discount random(2, 9)
\set quantity random(24, 25)
SELECT sum(price * discount) AS lost
  FROM purchase_line
 WHERE shipped_on >= make_date(:year, 1, 1) AND shipped_on < make_date(:year + 1, 1, 1)
   AND discount BETWEEN :discount / 100.0 - 0.01 AND :discount / 100.0 + 0.01
   AND quantity < :quantity;
