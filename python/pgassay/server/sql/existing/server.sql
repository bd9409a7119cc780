-- What the server is. data_directory is NULL to those who may not see it.
SELECT current_setting('server_version_num')::int AS version_num,
       current_setting('server_version') AS version,
       (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS data_directory,
       pg_is_in_recovery() AS in_recovery,
       pg_backend_pid() AS pid
