-- Whether this user owns a database, by membership too; superusers own all.
-- Parameter: the database.
SELECT pg_has_role(current_user, datdba, 'USAGE')
  FROM pg_catalog.pg_database
 WHERE datname = %s
