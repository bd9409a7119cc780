\set id random(1, 10000 * :scale)
\set month :id % 100
SELECT month FROM part WHERE id = :id AND month = :month;
