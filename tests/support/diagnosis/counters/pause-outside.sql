\set id random(1, 1000)
BEGIN;
UPDATE counter SET n = n + 1 WHERE id = :id;
COMMIT;
\sleep 20 ms
