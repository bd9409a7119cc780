-- Tablespaces whose files a copy of the data directory would share instead of freeze.
SELECT spcname FROM pg_tablespace WHERE pg_tablespace_location(oid) LIKE '/%'
