-- The same for those who may see where a setting comes from (pg_read_all_settings) but not read
-- the files, and whether this user is one: a bare number is in the setting's own unit.
-- Parameter: the setting.
SELECT pg_has_role('pg_read_all_settings', 'usage'),
       (SELECT reset_val
          FROM pg_settings
         WHERE sourcefile ~ 'postgresql[.]auto[.]conf$' AND lower(name) = lower(%s))
