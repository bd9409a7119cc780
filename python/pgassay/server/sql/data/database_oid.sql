-- By which name the folders of this database go.
SELECT oid::text FROM pg_catalog.pg_database WHERE datname = current_database()
