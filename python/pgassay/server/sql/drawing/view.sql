-- The query of a view. Without a search path all names in it but those of pg_catalog have schemas. Parameters: its oid.
SELECT pg_catalog.pg_get_viewdef(%s::pg_catalog.oid)
