-- What was billed, by return and shipment, up to a day.
\set days random(60, 120)
SELECT returned, status, sum(quantity) AS quantity, sum(price) AS listed,
       sum(price * (1 - discount)) AS discounted,
       sum(price * (1 - discount) * (1 + tax)) AS billed, avg(quantity) AS mean_quantity,
       avg(price) AS mean_price, avg(discount) AS mean_discount, count(*) AS lines
  FROM purchase_line
 WHERE shipped_on <= date '2024-12-01' - :days::int
 GROUP BY returned, status
 ORDER BY returned, status;
