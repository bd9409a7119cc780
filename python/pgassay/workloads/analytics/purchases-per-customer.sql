-- How many customers made how many purchases, without those whose note has two words in turn?
\set one random(1, 4)
\set other random(1, 4)
SELECT purchases, count(*) AS customers
  FROM (SELECT c.id, count(p.id) AS purchases
          FROM customer c
          LEFT JOIN purchase p
            ON p.customer_id = c.id
           AND p.note NOT LIKE
               '%' || (ARRAY['special', 'urgent', 'regular', 'late'])[:one]
               || '%' || (ARRAY['request', 'parcel', 'deposit', 'invoice'])[:other] || '%'
         GROUP BY c.id) AS counted
 GROUP BY purchases
 ORDER BY customers DESC, purchases DESC;
