-- The partition is not known from the id, so each is asked.
\set id random(1, 10000 * :scale)
SELECT month FROM part WHERE id = :id;
