-- Transactions that the server has ended so far, in all databases, by commit or rollback.
-- Parameters: none. PostgreSQL 15 and later count a session's once a second.
SELECT coalesce(sum(xact_commit + xact_rollback), 0)::int8
  FROM pg_catalog.pg_stat_database
