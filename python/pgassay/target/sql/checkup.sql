-- What doctor wants to know of a server it was pointed at.
SELECT current_setting('server_version_num')::int,
       version(),
       pg_catalog.pg_has_role('pg_monitor', 'USAGE'),
       current_setting('is_superuser') = 'on',
       current_setting('compute_query_id', true),
       -- Whether this very query has an id: with "auto" an extension may have turned them on. By way
       -- of jsonb, for the column is new in 14.
       (SELECT pg_catalog.to_jsonb(own) ->> 'query_id' IS NOT NULL
        FROM pg_catalog.pg_stat_activity AS own
        WHERE own.pid = pg_catalog.pg_backend_pid()),
       current_setting('track_io_timing'),
       pg_catalog.pg_is_in_recovery()
