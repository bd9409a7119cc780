\set account_id random(1, 100000 * :scale)
\set till_id random(1, 10 * :scale)
\set amount random(1, 5000)
BEGIN;
UPDATE account SET balance = balance - :amount WHERE id = :account_id;
SELECT balance FROM account WHERE id = :account_id;
INSERT INTO ledger (account_id, till_id, amount, booked_at)
VALUES (:account_id, :till_id, :amount, CURRENT_TIMESTAMP);
COMMIT;
