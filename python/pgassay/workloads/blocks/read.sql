\set id random(1, 12800 * :scale)
SELECT value FROM block WHERE id = :id;
