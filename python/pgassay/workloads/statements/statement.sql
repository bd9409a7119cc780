\set account_id random(1, 2000 * :scale)
SELECT booked_at, amount
  FROM ledger
 WHERE account_id = :account_id
 ORDER BY booked_at DESC
 LIMIT 10;
