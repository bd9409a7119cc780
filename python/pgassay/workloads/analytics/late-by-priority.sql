-- How many purchases of a quarter came late, by priority?
\set month random(0, 57)
SELECT p.priority, count(*) AS purchases
  FROM purchase p
 WHERE p.placed_on >= date '2019-01-01' + make_interval(months => :month)
   AND p.placed_on < date '2019-04-01' + make_interval(months => :month)
   AND EXISTS (SELECT FROM purchase_line l
                WHERE l.purchase_id = p.id AND l.received_on > l.promised_on)
 GROUP BY p.priority
 ORDER BY p.priority;
