-- What was shipped between two countries, in either direction, by year?
\set one random(1, 25)
\set other (:one + random(0, 23)) % 25 + 1
SELECT seller.name AS from_country, buyer.name AS to_country,
       extract(year FROM l.shipped_on) AS year, sum(l.price * (1 - l.discount)) AS revenue
  FROM purchase_line l
  JOIN supplier s ON s.id = l.supplier_id
  JOIN country seller ON seller.id = s.country_id
  JOIN purchase p ON p.id = l.purchase_id
  JOIN customer c ON c.id = p.customer_id
  JOIN country buyer ON buyer.id = c.country_id
 WHERE l.shipped_on BETWEEN date '2021-01-01' AND date '2022-12-31'
   AND ((seller.id = :one AND buyer.id = :other) OR (seller.id = :other AND buyer.id = :one))
 GROUP BY seller.name, buyer.name, year
 ORDER BY seller.name, buyer.name, year;
