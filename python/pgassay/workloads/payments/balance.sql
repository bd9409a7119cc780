\set account_id random(1, 100000 * :scale)
SELECT balance FROM account WHERE id = :account_id;
