-- What VACUUM can work on in a schema; partitioned tables are only analysed.
-- Parameter: the schema's name.
SELECT relname, relkind = 'p'
  FROM pg_class
 WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)
   AND relkind IN ('r', 'm', 'p')
 ORDER BY relname
