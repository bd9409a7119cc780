-- What ALTER DATABASE ... SET and ALTER ROLE me IN DATABASE ... SET have given this database: for
-- everybody (role NULL) or for this user. A copy of a database does not get them.
SELECT role.rolname, split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
  FROM pg_catalog.pg_db_role_setting AS setting
  LEFT JOIN pg_catalog.pg_roles AS role ON role.oid = setting.setrole
 CROSS JOIN LATERAL unnest(setting.setconfig) AS entry
 WHERE setting.setdatabase = (SELECT oid FROM pg_catalog.pg_database
                               WHERE datname = current_database())
   AND (setting.setrole = 0 OR role.rolname = current_user)
 ORDER BY setting.setrole, entry
