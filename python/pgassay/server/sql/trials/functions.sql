-- Functions of users whose settings or body may set a setting.
SELECT p.proname::text,
       concat_ws(' ; ', (SELECT string_agg('SET ' || split_part(one, '=', 1) || ' = x', ' ; ')
                           FROM unnest(p.proconfig) AS one),
                 p.prosrc)
  FROM pg_catalog.pg_proc AS p
  JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
   AND (p.proconfig IS NOT NULL OR p.prosrc ~* '\mset')
 LIMIT 5000
