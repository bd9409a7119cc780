-- Roles with the search path of their sessions (the setting of the role here, of the role, of this database, or else
-- what this session had), and the names of other settings of their own. The copy has the database's own as well.
-- Parameters: oids, a name.
SELECT r.oid::int8, quote_ident(r.rolname), coalesce(
         (SELECT split_part(one, '=', 2)
            FROM pg_db_role_setting AS s, unnest(s.setconfig) AS one
           WHERE one LIKE 'search\_path=%%'
             AND s.setrole IN (r.oid, 0)
             AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
           ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
           LIMIT 1),
         (SELECT p.reset_val FROM pg_settings AS p WHERE p.name = 'search_path')),
       ARRAY(
         SELECT DISTINCT split_part(one, '=', 1)
           FROM pg_db_role_setting AS s, unnest(s.setconfig) AS one
          WHERE one NOT LIKE 'search\_path=%%'
            AND r.rolname <> session_user
            AND s.setrole = r.oid
            AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
          ORDER BY 1)
  FROM pg_roles AS r
 WHERE r.oid::int8 = ANY (%s)
    OR r.rolname = %s
