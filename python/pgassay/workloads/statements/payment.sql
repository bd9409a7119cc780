\set account_id random(1, 2000 * :scale)
\set amount random(1, 5000)
BEGIN;
UPDATE account SET balance = balance - :amount WHERE id = :account_id;
INSERT INTO ledger (account_id, amount, booked_at)
VALUES (:account_id, :amount, CURRENT_TIMESTAMP);
COMMIT;
