-- Does a cheaper way of shipping make urgent purchases late? Two modes, one year.
\set one random(1, 7)
\set other (:one + random(0, 5)) % 7 + 1
\set year random(2019, 2023)
SELECT l.mode, count(*) FILTER (WHERE p.priority IN ('1 urgent', '2 high')) AS urgent,
       count(*) FILTER (WHERE p.priority NOT IN ('1 urgent', '2 high')) AS others
  FROM purchase_line l JOIN purchase p ON p.id = l.purchase_id
 WHERE l.mode IN ((ARRAY['air', 'express', 'rail', 'road', 'sea', 'mail', 'pickup'])[:one],
                  (ARRAY['air', 'express', 'rail', 'road', 'sea', 'mail', 'pickup'])[:other])
   AND l.shipped_on < l.promised_on AND l.promised_on < l.received_on
   AND l.received_on >= make_date(:year, 1, 1) AND l.received_on < make_date(:year + 1, 1, 1)
 GROUP BY l.mode
 ORDER BY l.mode;
