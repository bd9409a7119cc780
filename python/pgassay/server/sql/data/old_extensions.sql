-- Extensions of this database that the server's programs have another version of.
SELECT name FROM pg_catalog.pg_available_extensions
 WHERE installed_version <> default_version ORDER BY name
