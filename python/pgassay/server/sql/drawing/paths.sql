-- Where the sessions of each role look for names: the settings of the role here, of the role, of this database,
-- or else what this session had.
SELECT r.oid::int8, quote_ident(r.rolname), coalesce(
         (SELECT split_part(one, '=', 2)
            FROM pg_db_role_setting AS s, unnest(s.setconfig) AS one
           WHERE one LIKE 'search\_path=%%'
             AND s.setrole IN (r.oid, 0)
             AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
           ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
           LIMIT 1),
         (SELECT p.reset_val FROM pg_settings AS p WHERE p.name = 'search_path'))
  FROM pg_roles AS r
 WHERE r.oid::int8 = ANY (%s)
