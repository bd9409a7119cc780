SELECT relname FROM pg_catalog.pg_class WHERE oid = 'pg_catalog.pg_class'::pg_catalog.regclass
