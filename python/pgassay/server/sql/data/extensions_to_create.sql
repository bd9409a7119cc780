-- Which extensions this database can get: the installation has them, a schema is there to create them
-- in, and those that take a library loaded at the server's start have it (its settings exist).
SELECT a.name
  FROM pg_catalog.pg_available_extensions AS a
 WHERE a.installed_version IS NULL
   AND pg_catalog.current_schema() IS NOT NULL
   AND (a.name = ANY (%(wanted)s)
        OR a.name = ANY (%(preloaded)s)
           AND EXISTS (SELECT FROM pg_catalog.pg_settings AS s
                        WHERE s.context = 'postmaster'
                          AND pg_catalog.starts_with(s.name, a.name || '.')))
