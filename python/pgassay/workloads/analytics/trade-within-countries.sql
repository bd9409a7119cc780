-- What did the countries of a region earn in a year where buyer and supplier are of one country?
\set region random(1, 5)
\set year random(2019, 2023)
SELECT n.name, sum(l.price * (1 - l.discount)) AS revenue
  FROM region r
  JOIN country n ON n.region_id = r.id
  JOIN customer c ON c.country_id = n.id
  JOIN purchase p ON p.customer_id = c.id
  JOIN purchase_line l ON l.purchase_id = p.id
  JOIN supplier s ON s.id = l.supplier_id AND s.country_id = n.id
 WHERE r.name = (ARRAY['Africa', 'Americas', 'Asia', 'Europe', 'Oceania'])[:region]
   AND p.placed_on >= make_date(:year, 1, 1) AND p.placed_on < make_date(:year + 1, 1, 1)
 GROUP BY n.name
 ORDER BY revenue DESC;
