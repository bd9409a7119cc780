-- Whether this very query has an id: with "auto" an extension may have turned them on. By way of
-- jsonb, for the column is new in 14.
SELECT pg_catalog.to_jsonb(own) ->> 'query_id' IS NOT NULL
  FROM pg_catalog.pg_stat_activity AS own
 WHERE own.pid = pg_catalog.pg_backend_pid()
