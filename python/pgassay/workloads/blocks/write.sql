\set id random(1, 12800 * :scale)
UPDATE block SET value = value + 1 WHERE id = :id;
