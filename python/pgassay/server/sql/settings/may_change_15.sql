-- Whether this user may ALTER SYSTEM this setting, and reload. 15 made it grantable.
-- Parameter: the setting.
SELECT has_parameter_privilege(%s::text, 'ALTER SYSTEM'),
       has_function_privilege('pg_reload_conf()', 'execute')
