-- Whether this user may CHECKPOINT: a superuser, and from 15 on a member of pg_checkpoint.
SELECT r.rolsuper
       OR EXISTS (SELECT FROM pg_catalog.pg_roles m
                   WHERE m.rolname = 'pg_checkpoint' AND pg_catalog.pg_has_role(m.oid, 'USAGE'))
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
