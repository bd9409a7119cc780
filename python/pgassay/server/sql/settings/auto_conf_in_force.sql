-- The same for those who may see where a setting comes from (pg_read_all_settings) but not read
-- the files, and whether this user is one and this session does not hide it. The value is as SHOW
-- gives it, with its unit: most likely as it was written.
-- Parameter: the setting.
SELECT pg_has_role('pg_read_all_settings', 'usage') AND source <> 'session',
       CASE WHEN sourcefile ~ 'postgresql[.]auto[.]conf$' THEN current_setting(name) END
  FROM pg_settings
 WHERE lower(name) = lower(%s)
