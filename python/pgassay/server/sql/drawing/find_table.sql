-- Which table a name means, by the search path of a role of the source; so all other names here have schemas.
-- Parameters: the name, quoted.
SELECT pg_catalog.to_regclass(%s::pg_catalog.text)::pg_catalog.oid::pg_catalog.int8
