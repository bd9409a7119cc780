-- Whether this user may ALTER SYSTEM, and reload. Before 15 only superusers may.
-- Parameter: the setting.
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AND %s::text IS NOT NULL,
       has_function_privilege('pg_reload_conf()', 'execute')
