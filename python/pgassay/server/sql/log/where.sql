-- Where the server's log goes, and what of it this session may read.
SELECT pg_catalog.current_setting('log_destination') AS destination,
       pg_catalog.current_setting('logging_collector') = 'on' AS collector,
       pg_catalog.current_setting('log_line_prefix') AS prefix,
       pg_catalog.current_setting('log_truncate_on_rotation') = 'on' AS truncates,
       pg_catalog.current_setting('log_checkpoints') = 'on' AS checkpoints,
       pg_catalog.current_setting('lc_messages') AS language,
       pg_catalog.pg_backend_pid() AS pid,
       pg_catalog.current_setting('server_version_num')::int AS version_num,
       (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'log_filename') AS file_name,
       (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'data_directory') AS data_directory,
       (SELECT setting FROM pg_catalog.pg_settings
         WHERE name = 'log_autovacuum_min_duration')::int AS autovacuum_ms,
       (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'log_temp_files')::int AS temp_kb,
       pg_catalog.current_setting('log_lock_waits') = 'on' AS lock_waits,
       pg_catalog.has_function_privilege('pg_catalog.pg_current_logfile(text)', 'EXECUTE')
           AS may_ask,
       pg_catalog.has_function_privilege('pg_catalog.pg_ls_logdir()', 'EXECUTE') AS may_list,
       pg_catalog.has_function_privilege(
           'pg_catalog.pg_read_binary_file(text, bigint, bigint, boolean)', 'EXECUTE') AS may_read
