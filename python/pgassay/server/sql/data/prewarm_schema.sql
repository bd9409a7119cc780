-- Where pg_prewarm is installed, if it is.
SELECT namespace.nspname
  FROM pg_catalog.pg_extension AS extension
  JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = extension.extnamespace
 WHERE extension.extname = 'pg_prewarm'
