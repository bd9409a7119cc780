-- Whether a database is there. Parameter: its name.
SELECT 1 FROM pg_catalog.pg_database WHERE datname = %s
