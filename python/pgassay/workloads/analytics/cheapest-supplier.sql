-- Which supplier of a region is the cheapest for each product of a size and material?
\set size random(1, 50)
\set material random(1, 5)
\set region random(1, 5)
SELECT balance, supplier, country, product_id, maker, address, phone, note
  FROM (SELECT s.balance, s.name AS supplier, c.name AS country, p.id AS product_id, p.maker,
               s.address, s.phone, s.note,
               rank() OVER (PARTITION BY p.id ORDER BY o.cost) AS place
          FROM product p
          JOIN offer o ON o.product_id = p.id
          JOIN supplier s ON s.id = o.supplier_id
          JOIN country c ON c.id = s.country_id
          JOIN region r ON r.id = c.region_id
         WHERE p.size = :size
           AND p.kind LIKE '%' || (ARRAY['steel', 'copper', 'nickel', 'brass', 'tin'])[:material]
           AND r.name = (ARRAY['Africa', 'Americas', 'Asia', 'Europe', 'Oceania'])[:region]
       ) AS ranked
 WHERE place = 1
 ORDER BY balance DESC, country, supplier, product_id
 LIMIT 100;
