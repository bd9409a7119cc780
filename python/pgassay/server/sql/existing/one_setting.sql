-- The value of a setting in this session, with its unit.
SELECT pg_catalog.current_setting(%s)
