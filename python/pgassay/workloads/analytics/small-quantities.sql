-- What would a year lose if lines far below their product's usual quantity were refused?
\set brand random(0, 24)
\set span random(1, 5)
\set form random(1, 8)
SELECT sum(l.price) / 7.0 AS lost_per_year
  FROM product g
  JOIN purchase_line l ON l.product_id = g.id
 WHERE g.brand = 'brand ' || 11 + :brand / 5 * 10 + :brand % 5
   AND g.container = (ARRAY['small', 'medium', 'big', 'huge', 'gift'])[:span] || ' '
                     || (ARRAY['case', 'box', 'bag', 'jar', 'pack', 'can', 'drum',
                               'crate'])[:form]
   AND l.quantity < (SELECT 0.2 * avg(usual.quantity)
                       FROM purchase_line usual
                      WHERE usual.product_id = g.id);
