-- Whether this user may set what superusers may. Before 15 only they may.
-- Parameter: the setting.
SELECT rolsuper AND %s::text IS NOT NULL FROM pg_roles WHERE rolname = current_user
