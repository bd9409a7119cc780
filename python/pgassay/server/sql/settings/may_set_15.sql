-- Whether this user may set this setting. 15 made it grantable.
-- Parameter: the setting.
SELECT has_parameter_privilege(%s::text, 'SET')
