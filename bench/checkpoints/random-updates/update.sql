\set id random(1, :scale * 10000)
UPDATE item SET touched = touched + 1 WHERE id = :id;
