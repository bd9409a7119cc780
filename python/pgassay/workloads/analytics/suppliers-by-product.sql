-- How many suppliers without complaints offer products of eight sizes, by brand, kind and size?
\set brand random(0, 24)
\set grade random(1, 6)
\set finish random(1, 5)
\set shift random(0, 49)
SELECT g.brand, g.kind, g.size, count(DISTINCT o.supplier_id) AS suppliers
  FROM product g JOIN offer o ON o.product_id = g.id
 WHERE g.brand <> 'brand ' || 11 + :brand / 5 * 10 + :brand % 5
   AND g.kind NOT LIKE (ARRAY['basic', 'standard', 'compact', 'large', 'deluxe',
                              'promotional'])[:grade]
                       || ' ' || (ARRAY['brushed', 'polished', 'painted', 'coated',
                                        'raw'])[:finish] || '%'
   AND (g.size + :shift) % 50 < 8
   AND o.supplier_id NOT IN (SELECT id FROM supplier WHERE note LIKE '%complaints%customers%')
 GROUP BY g.brand, g.kind, g.size
 ORDER BY suppliers DESC, g.brand, g.kind, g.size;
