-- Which share of a month's revenue came from promotional products?
\set month random(0, 59)
SELECT 100 * sum(l.price * (1 - l.discount)) FILTER (WHERE g.kind LIKE 'promotional%')
       / sum(l.price * (1 - l.discount)) AS share
  FROM purchase_line l JOIN product g ON g.id = l.product_id
 WHERE l.shipped_on >= date '2019-01-01' + make_interval(months => :month)
   AND l.shipped_on < date '2019-02-01' + make_interval(months => :month);
