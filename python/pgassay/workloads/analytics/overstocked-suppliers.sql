-- Which suppliers of a country have more of a product than half of what they sold in a year?
\set word random(1, 10)
\set country random(1, 25)
\set year random(2019, 2023)
SELECT s.name, s.address
  FROM supplier s
 WHERE s.country_id = :country
   AND s.id IN (SELECT o.supplier_id
                  FROM offer o
                 WHERE o.product_id IN (
                           SELECT id FROM product
                            WHERE name LIKE (ARRAY['amber', 'birch', 'cedar', 'coral', 'garnet',
                                                   'jade', 'moss', 'opal', 'slate',
                                                   'walnut'])[:word] || '%')
                   AND o.available > (SELECT 0.5 * sum(l.quantity)
                                        FROM purchase_line l
                                       WHERE l.product_id = o.product_id
                                         AND l.supplier_id = o.supplier_id
                                         AND l.shipped_on >= make_date(:year, 1, 1)
                                         AND l.shipped_on < make_date(:year + 1, 1, 1)))
 ORDER BY s.name;
