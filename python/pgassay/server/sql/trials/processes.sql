-- The server's processes: what each is, and which application a session says it is.
-- Parameters: none.
SELECT pid, coalesce(backend_type, ''), coalesce(application_name, '')
  FROM pg_stat_activity
 WHERE pid IS NOT NULL
