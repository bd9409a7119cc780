-- A piece of a file; NULL where it is gone. Needs EXECUTE on this function.
SELECT pg_catalog.pg_read_binary_file(%s, %s, %s, true)
