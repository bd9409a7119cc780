-- The databases that can be entered, the oldest first.
SELECT datname FROM pg_catalog.pg_database WHERE datallowconn ORDER BY oid
