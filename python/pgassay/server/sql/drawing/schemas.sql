-- The schemas of the search path that are there and open to this role, but for those that are always in it.
SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]
