-- Without temporary tables: the same calls, on a table that stays.
SELECT make_temporary_tables(0, 'preserve');
BEGIN;
SELECT count(*) FROM kept;
COMMIT;
