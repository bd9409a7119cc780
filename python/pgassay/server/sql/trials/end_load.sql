-- Ends the sessions of a load in this database.
SELECT pg_catalog.pg_terminate_backend(pid)
FROM pg_catalog.pg_stat_activity
WHERE application_name = %s AND datname = current_database() AND usename = current_user
