-- What must stay as it is while a trial runs, besides the settings. Ours are told by their name.
-- Without pg_monitor the sessions of other roles have no backend_type and are not counted.
SELECT current_setting('server_version') AS version,
       extract(epoch FROM pg_catalog.pg_postmaster_start_time())::float8 AS started_at_s,
       pg_catalog.pg_backend_pid() AS pid,
       pg_catalog.pg_database_size(pg_catalog.current_database()) AS database_bytes,
       others.sessions AS foreign_sessions,
       others.active AS foreign_active,
       others.maintenance AS foreign_maintenance,
       (SELECT count(*) FROM pg_catalog.pg_stat_activity
         WHERE backend_type = 'autovacuum worker') AS autovacuum_workers,
       (SELECT count(*) FROM pg_catalog.pg_stat_progress_basebackup) AS base_backups,
       (SELECT coalesce(string_agg(application_name || ' ' || sync_state, ', '
                                   ORDER BY application_name, sync_state, pid), '')
          FROM pg_catalog.pg_stat_replication
         WHERE state IN ('streaming', 'catchup')) AS replicas
  FROM (SELECT count(*) AS sessions,
               count(*) FILTER (WHERE state = 'active') AS active,
               count(*) FILTER (WHERE pid IN (SELECT pid FROM pg_catalog.pg_stat_progress_vacuum
                                              UNION ALL
                                              SELECT pid FROM pg_catalog.pg_stat_progress_analyze))
                   AS maintenance
          FROM pg_catalog.pg_stat_activity
         WHERE backend_type = 'client backend'
           AND application_name NOT IN ('pgassay', 'pgassay control', 'pgassay sampler')) AS others
