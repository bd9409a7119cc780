-- What all databases have committed and rolled back so far; asked twice.
SELECT coalesce(sum(xact_commit + xact_rollback), 0)::int8
  FROM pg_stat_database
