-- With whom this server shares changes; empty where with nobody. Those who take its WAL would take
-- a copy's; a publisher would take its changes as delivered that went to a copy.
SELECT concat_ws(' and ',
    CASE WHEN current_setting('archive_mode') <> 'off' THEN 'archive_mode on' END,
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_replication_slots) THEN 'replication slots' END,
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_stat_replication) THEN 'standbys' END,
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_subscription WHERE subenabled)
         THEN 'enabled subscriptions' END)
