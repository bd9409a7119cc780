-- What decides whether a base backup of this server can be taken, and how large it is.
-- Databases that this user may not measure are left out of the size.
SELECT pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') AS reads_settings,
       (SELECT rolname FROM pg_roles WHERE rolsuper AND rolcanlogin ORDER BY oid LIMIT 1) AS superuser,
       (SELECT coalesce(sum(pg_database_size(oid)), 0)::bigint FROM pg_database
         WHERE has_database_privilege(oid, 'CONNECT')
            OR pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')) AS size,
       (SELECT string_agg(quote_ident(spcname), ', ') FROM pg_tablespace
         WHERE pg_tablespace_location(oid) LIKE '/%') AS tablespaces,
       (SELECT count(*) FROM pg_class
         WHERE relpersistence = 'u' AND relkind IN ('r', 'm')) AS unlogged,
       (SELECT coalesce(array_agg(srvname::text ORDER BY srvname), '{}')
          FROM pg_foreign_server) AS foreign_servers,
       (SELECT array_agg(DISTINCT name ORDER BY name)
          FROM (SELECT unnest(ARRAY[datcollate, datctype])::text FROM pg_database
                UNION ALL
                SELECT setting FROM pg_settings
                 WHERE name IN ('lc_monetary', 'lc_numeric', 'lc_time')) AS used (name)) AS locales,
       quote_ident(session_user) AS role,
       host(inet_client_addr()) AS client
