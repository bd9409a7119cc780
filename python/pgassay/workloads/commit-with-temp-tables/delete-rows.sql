SELECT make_temporary_tables(50 * :scale, 'delete');
BEGIN;
SELECT count(*) FROM pg_temp.t_1;
COMMIT;
