SELECT pg_catalog.set_config('TimeZone', pg_catalog.current_setting('log_timezone'), true)
