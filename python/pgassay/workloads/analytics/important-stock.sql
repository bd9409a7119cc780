-- Which products make up a notable share of what a country's suppliers have in stock?
\set country random(1, 25)
SELECT product_id, value
  FROM (SELECT o.product_id, sum(o.cost * o.available) AS value,
               sum(sum(o.cost * o.available)) OVER () AS total
          FROM offer o JOIN supplier s ON s.id = o.supplier_id
         WHERE s.country_id = :country
         GROUP BY o.product_id) AS stocked
 WHERE value > total * 0.001 / :scale
 ORDER BY value DESC;
