-- What doctor wants to know of a server it was pointed at.
SELECT current_setting('server_version_num')::int,
       version(),
       pg_catalog.pg_has_role('pg_monitor', 'USAGE'),
       current_setting('is_superuser') = 'on',
       pg_catalog.pg_is_in_recovery()
