-- The tables of users in this database that this user may read.
SELECT namespace.nspname, class.relname
  FROM pg_catalog.pg_class AS class
  JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = class.relnamespace
 WHERE class.oid >= 16384 AND class.relkind IN ('r', 'm') AND class.relpersistence <> 't'
   AND pg_catalog.has_table_privilege(class.oid, 'SELECT')
   AND pg_catalog.has_schema_privilege(namespace.oid, 'USAGE')
 ORDER BY class.oid
