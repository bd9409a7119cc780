-- When the server last read its configuration files, in nanoseconds of Unix time.
-- Parameters: none. A start of the server reads them, too.
SELECT (extract(epoch FROM pg_catalog.pg_conf_load_time()) * 1000000)::int8 * 1000
