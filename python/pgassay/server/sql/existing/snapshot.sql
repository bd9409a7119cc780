-- What a run must leave as it was found, as far as this user may see it: one row for each thing, with
-- its kind (comparison.py), its name and what it is like.
SELECT 'setting', name,
       format('%s (%s)', concat_ws(' x ', reset_val, unit),
              coalesce(regexp_replace(sourcefile, '.*/', ''), source))
  FROM pg_catalog.pg_settings
 WHERE context <> 'internal'
UNION ALL
SELECT 'pending restart', name, '' FROM pg_catalog.pg_settings WHERE pending_restart
UNION ALL
SELECT 'setting in ALTER ... SET',
       format('%s of %s', split_part(entry, '=', 1),
              concat_ws(' in ', role.rolname, 'database ' || database.datname)),
       substr(entry, strpos(entry, '=') + 1)
  FROM pg_catalog.pg_db_role_setting AS setting
 CROSS JOIN LATERAL unnest(setting.setconfig) AS entry
  LEFT JOIN pg_catalog.pg_database AS database ON database.oid = setting.setdatabase
  LEFT JOIN pg_catalog.pg_roles AS role ON role.oid = setting.setrole
UNION ALL
SELECT 'schema', nspname, pg_get_userbyid(nspowner)
  FROM pg_catalog.pg_namespace
 WHERE nspname !~ '^pg_(toast_)?temp_'
UNION ALL
SELECT 'database', datname,
       concat_ws(' ', pg_get_userbyid(datdba), datallowconn, datconnlimit, datistemplate,
                 shobj_description(oid, 'pg_database'))
  FROM pg_catalog.pg_database
UNION ALL
SELECT 'role', rolname,
       concat_ws(' ', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
                 rolbypassrls, rolconnlimit, rolvaliduntil, shobj_description(oid, 'pg_authid'))
  FROM pg_catalog.pg_roles
