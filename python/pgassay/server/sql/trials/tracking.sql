-- What is set of some settings; one that this version does not have is left out. Parameter: names.
SELECT name, setting
  FROM pg_catalog.pg_settings
 WHERE name = ANY(%s)
