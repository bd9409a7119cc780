-- Looks names up, until the transaction ends, where a role of the source does. Parameters: the search path.
SELECT pg_catalog.set_config('search_path', %s::pg_catalog.text, true)
