-- Where the WAL began that the last checkpoint would be recovered from, in bytes since its beginning.
SELECT pg_catalog.pg_wal_lsn_diff(redo_lsn, '0/0')::pg_catalog.int8
  FROM pg_catalog.pg_control_checkpoint()
