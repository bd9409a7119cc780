-- Commands that cut one database of a copy off from other servers, in their order: foreign tables
-- lose the code that reaches their server, foreign servers their users with passwords, and
-- subscriptions are disabled and forget their slot.
SELECT format('ALTER FOREIGN DATA WRAPPER %I NO HANDLER', fdwname) AS command
  FROM pg_catalog.pg_foreign_data_wrapper WHERE fdwhandler <> 0
UNION ALL
SELECT format('DROP USER MAPPING FOR %s SERVER %I',
              CASE WHEN umuser = 0 THEN 'PUBLIC' ELSE quote_ident(usename) END, srvname)
  FROM pg_catalog.pg_user_mappings
UNION ALL
SELECT format('ALTER SUBSCRIPTION %I %s', subname, change)
  FROM pg_catalog.pg_subscription
       CROSS JOIN unnest(ARRAY['DISABLE', 'SET (slot_name = NONE)']) AS change
 WHERE subdbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
