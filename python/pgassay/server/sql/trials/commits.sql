-- What every session of this database has committed and rolled back so far.
SELECT xact_commit, xact_rollback
FROM pg_catalog.pg_stat_database
WHERE datname = current_database()
