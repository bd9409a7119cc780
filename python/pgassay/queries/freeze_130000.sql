-- How old the oldest transaction ids are that VACUUM must still freeze or keep, and how large the
--   catalog of tables is, which every VACUUM reads to bring that age up to date.
-- Floor 13. Ages are in transactions, over all databases. All are present numbers.
--   oldest_snapshot_age: the oldest row versions that a session, a prepared transaction or a
--   replication slot keeps from being removed.
-- At most: 1 % of a minute.
-- Privileges: pg_monitor (or pg_read_all_stats) for the snapshots of other roles.
SELECT
    (SELECT max(pg_catalog.age(d.datfrozenxid))
        FROM pg_catalog.pg_database AS d)::pg_catalog.int8 AS oldest_xid_age,
    (SELECT max(pg_catalog.mxid_age(d.datminmxid))
        FROM pg_catalog.pg_database AS d)::pg_catalog.int8 AS oldest_multixact_age,
    greatest(
        (SELECT max(pg_catalog.age(a.backend_xmin)) FROM pg_catalog.pg_stat_activity AS a
            WHERE a.pid <> pg_catalog.pg_backend_pid()),
        (SELECT max(pg_catalog.age(p.transaction)) FROM pg_catalog.pg_prepared_xacts AS p),
        (SELECT max(pg_catalog.age(s.xmin)) FROM pg_catalog.pg_replication_slots AS s),
        0
    )::pg_catalog.int8 AS oldest_snapshot_age,
    pg_catalog.pg_relation_size('pg_catalog.pg_class'::pg_catalog.regclass)::pg_catalog.int8
        AS pg_class_bytes
