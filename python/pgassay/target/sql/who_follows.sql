-- Who takes this server's WAL; empty where nobody does.
SELECT concat_ws(' and ',
    CASE WHEN current_setting('archive_mode') <> 'off' THEN 'archive_mode on' END,
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_replication_slots) THEN 'replication slots' END,
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_stat_replication) THEN 'standbys' END)
