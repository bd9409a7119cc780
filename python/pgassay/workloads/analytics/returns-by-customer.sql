-- Which customers returned the most of what they bought in a quarter?
\set month random(0, 23)
SELECT c.id, c.name, sum(l.price * (1 - l.discount)) AS lost, c.balance, n.name AS country,
       c.address, c.phone, c.note
  FROM purchase p
  JOIN purchase_line l ON l.purchase_id = p.id
  JOIN customer c ON c.id = p.customer_id
  JOIN country n ON n.id = c.country_id
 WHERE p.placed_on >= date '2019-02-01' + make_interval(months => :month)
   AND p.placed_on < date '2019-05-01' + make_interval(months => :month)
   AND l.returned = 'R'
 GROUP BY c.id, n.name
 ORDER BY lost DESC
 LIMIT 20;
