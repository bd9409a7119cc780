-- Sessions of clients in this database by what they wait for: how many are connected and at work, and how many
-- sent their last statement with parameters ($1) or with constants.
-- Privileges: pg_read_all_stats. Without it the state of others' sessions is not known.
SELECT coalesce(a.wait_event_type, 'CPU'),
       count(*),
       count(*) FILTER (WHERE a.state = 'active'),
       count(*) FILTER (WHERE a.query ~ '\$[0-9]'),
       count(*) FILTER (WHERE a.query !~ '\$[0-9]' AND a.query ~* '^\s*(select|insert|update|delete|with)\M.*[0-9'']'),
       bool_or(a.state IS NULL)
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database()
   AND a.backend_type = 'client backend'
   AND coalesce(a.application_name, '') NOT IN ('pgassay control', 'pgassay sampler')
 GROUP BY 1
