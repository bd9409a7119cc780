-- Transactions that all databases have counted as committed.
-- Parameters: none. PostgreSQL 15 and later count a session's once a second.
SELECT coalesce(sum(xact_commit), 0) FROM pg_stat_database
