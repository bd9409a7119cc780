\set id random(1, 10000)
SELECT month FROM part WHERE id = :id;
