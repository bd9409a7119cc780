-- Client sessions in this database that are not pgassay's own.
SELECT count(*)
FROM pg_catalog.pg_stat_activity
WHERE datname = current_database()
  AND backend_type = 'client backend'
  AND application_name NOT IN ('pgassay control', 'pgassay sampler')
