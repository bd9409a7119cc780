-- Databases that runs at the template level have made, with the mark that says where from.
SELECT datname, coalesce(pg_catalog.shobj_description(oid, 'pg_database'), '')
FROM pg_catalog.pg_database
WHERE datname ~ '^pgassay_[0-9a-f]{8}(_template)?$'
