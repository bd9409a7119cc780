-- Who else is connected to this database; it cannot be copied while somebody is. Sessions of
-- pgassay's own are on their way out.
SELECT count(*),
       coalesce(string_agg(DISTINCT format('%s (%s)', usename, application_name), ', '), '')
  FROM pg_catalog.pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND backend_type IS DISTINCT FROM 'autovacuum worker'
   AND application_name NOT IN ('pgassay', 'pgassay control', 'pgassay sampler')
