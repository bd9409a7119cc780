-- What was earned on products whose name has a word, by the supplier's country and year?
\set word random(1, 10)
SELECT n.name, extract(year FROM p.placed_on) AS year,
       sum(l.price * (1 - l.discount) - o.cost * l.quantity) AS profit
  FROM product g
  JOIN purchase_line l ON l.product_id = g.id
  JOIN offer o ON o.product_id = l.product_id AND o.supplier_id = l.supplier_id
  JOIN supplier s ON s.id = l.supplier_id
  JOIN country n ON n.id = s.country_id
  JOIN purchase p ON p.id = l.purchase_id
 WHERE g.name LIKE '%' || (ARRAY['amber', 'birch', 'cedar', 'coral', 'garnet', 'jade', 'moss',
                                 'opal', 'slate', 'walnut'])[:word] || '%'
 GROUP BY n.name, year
 ORDER BY n.name, year DESC;
