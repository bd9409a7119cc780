-- Who else is connected here, and what bounds this role's and this database's connections.
-- Of sessions that may not be looked at only the user is told; the server's own have none.
WITH others AS (
    SELECT usesysid, datid
      FROM pg_catalog.pg_stat_activity
     WHERE (backend_type = 'client backend' OR (backend_type IS NULL AND usesysid IS NOT NULL))
       AND application_name NOT IN ('pgassay control', 'pgassay sampler')
)
SELECT role.rolsuper AS superuser,
       EXISTS (SELECT FROM pg_catalog.pg_roles AS own
                WHERE own.rolname = 'pg_use_reserved_connections'
                  AND pg_has_role(role.oid, own.oid, 'USAGE')) AS uses_reserved,
       (SELECT count(*) FROM others) AS others,
       nullif(role.rolconnlimit, -1) AS role_limit,
       (SELECT count(*) FROM others WHERE usesysid = role.oid) AS others_of_role,
       nullif(own.datconnlimit, -1) AS database_limit,
       (SELECT count(*) FROM others WHERE datid = own.oid) AS others_in_database
  FROM pg_catalog.pg_roles AS role, pg_catalog.pg_database AS own
 WHERE role.rolname = current_user
   AND own.datname = current_database()
