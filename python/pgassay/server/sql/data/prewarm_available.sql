-- Whether this installation has the extension pg_prewarm.
SELECT name FROM pg_catalog.pg_available_extensions WHERE name = 'pg_prewarm'
