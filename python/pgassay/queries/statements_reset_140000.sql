-- When the statistics of all statements were last reset, in us since 1970, and how often the least
--   called were evicted to make room.
-- Floor 14: pg_stat_statements_info.
-- Every: trial. Read before and after the statements, on both sides of a trial.
-- Extension: pg_stat_statements 1.9, preloaded.
-- Privileges: none.
SELECT
    (extract(epoch FROM i.stats_reset) * 1000000)::pg_catalog.int8 AS reset_us,
    i.dealloc::pg_catalog.int8 AS evictions
FROM {extension}.pg_stat_statements_info AS i
