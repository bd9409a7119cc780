-- Where the server's log goes, and what of it this session may read.
SELECT pg_catalog.current_setting('log_destination') AS destination,
       pg_catalog.current_setting('logging_collector') = 'on' AS collector,
       pg_catalog.current_setting('log_line_prefix') AS prefix,
       pg_catalog.current_setting('log_truncate_on_rotation') = 'on' AS truncates,
       pg_catalog.current_setting('log_checkpoints') = 'on' AS checkpoints,
       pg_catalog.current_setting('lc_messages') AS language,
       -- The language that this session's messages really have: LANGUAGE of the server's surroundings
       -- counts beside lc_messages, and a build may lack translations. As bytes: a database without
       -- an encoding may hold anything.
       pg_catalog.encode(pg_catalog.convert_to(pg_catalog.pg_describe_object(
           'pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass, 1
       ), 'UTF8'), 'hex') AS described_column,
       -- Set for a role or a database it is not that of the server's own processes.
       (SELECT source IN ('global', 'database', 'user', 'database user', 'client', 'session')
          FROM pg_catalog.pg_settings WHERE name = 'lc_messages') AS own_language,
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
