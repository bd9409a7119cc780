-- Which supplier sold the most in a quarter?
\set month random(0, 57)
WITH sold AS (
    SELECT supplier_id, sum(price * (1 - discount)) AS revenue
      FROM purchase_line
     WHERE shipped_on >= date '2019-01-01' + make_interval(months => :month)
       AND shipped_on < date '2019-04-01' + make_interval(months => :month)
     GROUP BY supplier_id
)
SELECT s.id, s.name, s.address, s.phone, sold.revenue
  FROM sold JOIN supplier s ON s.id = sold.supplier_id
 WHERE sold.revenue = (SELECT max(revenue) FROM sold)
 ORDER BY s.id;
