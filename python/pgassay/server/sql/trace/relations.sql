-- Names and kinds of the relations of this database, by the number of their file.
-- Parameter: an array of such numbers.
SELECT pg_catalog.pg_relation_filenode(c.oid)::int8 AS file,
       c.oid::pg_catalog.regclass::text AS name,
       c.relkind::text AS kind,
       (SELECT d.oid::int8 FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()) AS database
FROM pg_catalog.pg_class c
WHERE pg_catalog.pg_relation_filenode(c.oid)::int8 = ANY (%s::int8[])
