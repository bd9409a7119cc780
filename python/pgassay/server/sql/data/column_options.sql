-- The options of columns of this database, by name.
SELECT DISTINCT split_part(option, '=', 1) FROM pg_catalog.pg_attribute, unnest(attoptions) option
