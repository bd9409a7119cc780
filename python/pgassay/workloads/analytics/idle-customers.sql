-- Which customers of seven countries are better off than most there and have bought nothing?
\set shift random(0, 24)
WITH wealthy AS (
    SELECT id, left(phone, 2) AS code, balance
      FROM customer
     WHERE (left(phone, 2)::int + :shift) % 25 < 7 AND balance > 0
)
SELECT code, count(*) AS customers, sum(balance) AS balance
  FROM wealthy
 WHERE balance > (SELECT avg(balance) FROM wealthy)
   AND NOT EXISTS (SELECT FROM purchase p WHERE p.customer_id = wealthy.id)
 GROUP BY code
 ORDER BY code;
