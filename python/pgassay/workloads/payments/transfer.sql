-- The lower account first, so that two transfers never wait for each other in a circle.
\set one random(1, 100000 * :scale)
\set other random(1, 100000 * :scale)
\set first least(:one, :other)
\set second greatest(:one, :other)
\set amount random(1, 5000)
BEGIN;
UPDATE account SET balance = balance - :amount WHERE id = :first;
UPDATE account SET balance = balance + :amount WHERE id = :second;
COMMIT;
