-- Which share of a kind of product that a region bought came from one of its countries, by year?
\set country random(1, 25)
\set kind random(0, 149)
SELECT extract(year FROM p.placed_on) AS year,
       sum(l.price * (1 - l.discount)) FILTER (WHERE s.country_id = :country)
       / sum(l.price * (1 - l.discount)) AS share
  FROM product g
  JOIN purchase_line l ON l.product_id = g.id
  JOIN purchase p ON p.id = l.purchase_id
  JOIN customer c ON c.id = p.customer_id
  JOIN country n ON n.id = c.country_id
  JOIN supplier s ON s.id = l.supplier_id
 WHERE g.kind = (ARRAY['basic', 'standard', 'compact', 'large', 'deluxe',
                       'promotional'])[1 + :kind / 25]
                || ' ' || (ARRAY['brushed', 'polished', 'painted', 'coated',
                                 'raw'])[1 + :kind / 5 % 5]
                || ' ' || (ARRAY['steel', 'copper', 'nickel', 'brass', 'tin'])[1 + :kind % 5]
   AND n.region_id = (SELECT region_id FROM country WHERE id = :country)
   AND p.placed_on BETWEEN date '2021-01-01' AND date '2022-12-31'
 GROUP BY year
 ORDER BY year;
