-- Client sessions of others, in whatever database. Without pg_monitor backend_type and
-- application_name are NULL; background workers have no user then either, and walsenders are
-- told by pg_stat_replication.
WITH others AS (
    SELECT coalesce(datname, '?') AS database, count(*) AS sessions
      FROM pg_stat_activity
     WHERE usesysid IS NOT NULL AND datid IS NOT NULL AND pid <> pg_backend_pid()
       AND coalesce(backend_type, 'client backend') = 'client backend'
       AND coalesce(application_name, '') NOT IN ('pgassay control', 'pgassay sampler')
       AND pid NOT IN (SELECT pid FROM pg_stat_replication)
     GROUP BY 1)
SELECT coalesce(sum(sessions), 0)::int,
       string_agg(sessions || ' in ' || database, ', ' ORDER BY sessions DESC, database)
  FROM others
