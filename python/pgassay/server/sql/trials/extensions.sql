-- The extensions of this database, each with its schema as SQL takes it, and whether the server has loaded
-- its library: everybody sees that its settings exist then.
SELECT e.extname, quote_ident(n.nspname), e.extversion,
       e.extname IN (SELECT split_part(s.name, '.', 1) FROM pg_catalog.pg_settings AS s)
  FROM pg_catalog.pg_extension AS e
  JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
