-- The extensions of this database, each with its schema as SQL takes it.
SELECT e.extname, quote_ident(n.nspname), e.extversion
  FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
