-- The server's processes of a load in this database.
SELECT pid
FROM pg_catalog.pg_stat_activity
WHERE application_name = %s AND datname = current_database()
