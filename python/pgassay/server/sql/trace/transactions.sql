-- Transactions that the server has ended so far, in all databases.
SELECT sum(xact_commit + xact_rollback)::int8 AS transactions
FROM pg_catalog.pg_stat_database
