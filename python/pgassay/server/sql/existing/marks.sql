-- The marks of runs on this server (undo/mark.py), with the database that has each in its comment, and
-- who owns that. A role without a database marks the schema: that is seen in its own database only.
-- Parameter: the name of the schema.
SELECT place.of_database, owner.rolname, owner.rolsuper,
       substring(place.comment FROM '(?:^|\n)(pgassay: [^\n]*\n[{]"form": [^\n]*)$')
  FROM (SELECT datname, datdba, shobj_description(oid, 'pg_database')
          FROM pg_catalog.pg_database
         UNION ALL
        SELECT NULL, nspowner, obj_description(oid, 'pg_namespace')
          FROM pg_catalog.pg_namespace
         WHERE nspname = %s) AS place(of_database, owned_by, comment)
  JOIN pg_catalog.pg_roles AS owner ON owner.oid = place.owned_by
 WHERE place.comment ~ '(^|\n)pgassay: [^\n]*\n[{]"form": [^\n]*$'
 ORDER BY place.of_database
