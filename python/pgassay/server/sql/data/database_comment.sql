-- The comment of a database, if it is there.
SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s
