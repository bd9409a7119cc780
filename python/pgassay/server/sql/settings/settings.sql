-- Every setting a session starts with, in the server's own units.
-- reset_val, not setting: what a control session sets for itself must not be taken for the
-- server's. The file is NULL to those who may not see it. Internal settings are computed after start, some without touching reset_val.
SELECT name,
       coalesce(CASE WHEN context = 'internal' THEN setting ELSE reset_val END, '') AS value,
       unit, context, vartype,
       coalesce(enumvals, '{}') AS enumvals,
       min_val, max_val, boot_val, source, pending_restart,
       sourcefile, sourceline
  FROM pg_settings
 ORDER BY name
