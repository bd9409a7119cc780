-- All files of this database.
SELECT pg_catalog.pg_database_size(pg_catalog.current_database())
