-- Settings whose new value waits for a restart, by the files as they were last loaded or as they are.
SELECT lower(name) FROM pg_settings WHERE pending_restart
