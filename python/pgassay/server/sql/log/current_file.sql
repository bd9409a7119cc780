-- The file that is written to now, in one form. Needs pg_monitor from 17 on, EXECUTE on this function before.
SELECT pg_catalog.pg_current_logfile(%s)
