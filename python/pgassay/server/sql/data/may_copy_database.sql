-- Whether this user may make databases, and copies of this one.
SELECT role.rolsuper OR role.rolcreatedb,
       role.rolsuper OR pg_catalog.pg_has_role(database.datdba, 'USAGE') OR database.datistemplate,
       pg_catalog.pg_database_size(database.oid)
  FROM pg_catalog.pg_database AS database, pg_catalog.pg_roles AS role
 WHERE database.datname = current_database() AND role.rolname = current_user
