-- The database whose comment this role may write: one that none but its equals may write, so that a
-- superuser's mark is of superusers. No row: there is none.
SELECT database.datname
  FROM pg_catalog.pg_database AS database
  JOIN pg_catalog.pg_roles AS owner ON owner.oid = database.datdba
  JOIN pg_catalog.pg_roles AS me ON me.rolname = current_user
 WHERE database.datname !~ '^pgassay_[0-9a-f]{8}(_template)?$'
   AND CASE WHEN me.rolsuper THEN owner.rolsuper ELSE pg_has_role(owner.oid, 'USAGE') END
 ORDER BY database.datname = current_database() DESC, database.datname = 'postgres' DESC, database.oid
 LIMIT 1
