-- What the configuration files say now, loaded or not, in the order in which it counts; needs
-- pg_show_all_file_settings(). Afterwards this session's pg_settings.pending_restart is of the files
-- as they are.
SELECT sourcefile, sourceline, lower(name), setting, error FROM pg_file_settings ORDER BY seqno
