-- The comment that holds a mark. No row: what it is on is not there.
-- Parameters: database, or empty where it is the schema.
SELECT shobj_description(oid, 'pg_database')
  FROM pg_catalog.pg_database
 WHERE datname = %(database)s
 UNION ALL
SELECT obj_description(oid, 'pg_namespace')
  FROM pg_catalog.pg_namespace
 WHERE nspname = %(schema)s AND %(database)s::text = ''
