-- Which purchases of a segment that are not wholly shipped yet bring the most?
\set segment random(1, 5)
\set day random(0, 30)
SELECT p.id, sum(l.price * (1 - l.discount)) AS revenue, p.placed_on, p.shipping_priority
  FROM customer c
  JOIN purchase p ON p.customer_id = c.id
  JOIN purchase_line l ON l.purchase_id = p.id
 WHERE c.segment = (ARRAY['households', 'builders', 'factories', 'offices', 'shops'])[:segment]
   AND p.placed_on < date '2021-03-01' + :day::int
   AND l.shipped_on > date '2021-03-01' + :day::int
 GROUP BY p.id, p.placed_on, p.shipping_priority
 ORDER BY revenue DESC, p.placed_on
 LIMIT 10;
