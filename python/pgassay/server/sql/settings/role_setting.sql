-- What ALTER DATABASE ... SET or ALTER ROLE ... SET has written of one setting.
-- Parameters: at (database or role), of (its name), name (the setting).
SELECT substr(entry, strpos(entry, '=') + 1)
  FROM pg_catalog.pg_db_role_setting AS setting
 CROSS JOIN LATERAL unnest(setting.setconfig) AS entry
 WHERE lower(split_part(entry, '=', 1)) = lower(%(name)s)
   AND CASE WHEN %(at)s = 'database'
            THEN setting.setrole = 0
                 AND setting.setdatabase = (SELECT oid FROM pg_catalog.pg_database
                                             WHERE datname = %(of)s)
            ELSE setting.setdatabase = 0
                 AND setting.setrole = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = %(of)s)
        END
