-- Without temporary tables: the same transaction on a table that stays.
BEGIN;
SELECT count(*) FROM kept;
COMMIT;
