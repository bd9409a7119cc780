-- What did lines bring that went by air and were handed over, for three brands and their packings?
\set brand_one random(0, 24)
\set brand_two random(0, 24)
\set brand_three random(0, 24)
\set least_one random(1, 10)
\set least_two random(10, 20)
\set least_three random(20, 30)
SELECT sum(l.price * (1 - l.discount)) AS revenue
  FROM purchase_line l JOIN product g ON g.id = l.product_id
 WHERE l.mode IN ('air', 'express') AND l.instruction = 'hand over'
   AND ((g.brand = 'brand ' || 11 + :brand_one / 5 * 10 + :brand_one % 5
         AND g.container IN ('small case', 'small box', 'small pack', 'small bag')
         AND l.quantity >= :least_one AND l.quantity <= :least_one + 10 AND g.size <= 5)
        OR (g.brand = 'brand ' || 11 + :brand_two / 5 * 10 + :brand_two % 5
            AND g.container IN ('medium case', 'medium box', 'medium pack', 'medium bag')
            AND l.quantity >= :least_two AND l.quantity <= :least_two + 10 AND g.size <= 10)
        OR (g.brand = 'brand ' || 11 + :brand_three / 5 * 10 + :brand_three % 5
            AND g.container IN ('big case', 'big box', 'big pack', 'big bag')
            AND l.quantity >= :least_three AND l.quantity <= :least_three + 10 AND g.size <= 15));
