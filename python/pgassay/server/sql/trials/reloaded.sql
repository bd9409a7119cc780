-- When this session last read the configuration files, and what it then has of these settings.
SELECT pg_conf_load_time()::text, ARRAY(SELECT current_setting(name) FROM unnest(%s::text[]) AS name)
