\set id random(1, 100000 * :scale)
UPDATE entry SET info = CURRENT_TIMESTAMP, changed_at = CURRENT_TIMESTAMP WHERE id = :id;
