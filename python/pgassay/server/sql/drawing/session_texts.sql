-- What clients in this database have sent within the last two seconds, by queryid (14 and later), if it is not cut.
-- Privileges: pg_read_all_stats. Without it the statements of others are not shown.
SELECT DISTINCT (to_jsonb(a) ->> 'query_id')::int8, a.query
  FROM pg_stat_activity AS a
 WHERE a.datname = current_database()
   AND a.backend_type = 'client backend'
   AND a.query_start > clock_timestamp() - interval '2 seconds'
   AND to_jsonb(a) ->> 'query_id' IS NOT NULL
   AND octet_length(a.query) < pg_size_bytes(current_setting('track_activity_query_size')) - 1
   AND coalesce(a.application_name, '') NOT IN ('pgassay control', 'pgassay sampler')
