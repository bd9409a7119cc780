-- Extensions whose library was loaded at the server's start: everybody sees that their settings exist.
SELECT DISTINCT split_part(name, '.', 1)
  FROM pg_catalog.pg_settings
 WHERE name LIKE '%.%'
