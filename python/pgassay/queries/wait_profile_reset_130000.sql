-- Since when pg_wait_sampling counts at the earliest, in us since 1970, and whether by process.
--
-- Every: trial. Read before and after the waits, on both sides of a trial.
-- Extension: pg_wait_sampling 1.1, preloaded.
-- Privileges: none.
--
-- The profile is lost when the server restarts. A call of pg_wait_sampling_reset_profile() is told
-- by nothing but counts that fell. Evictions there are none.
SELECT
    (extract(epoch FROM pg_catalog.pg_postmaster_start_time()) * 1000000)::pg_catalog.int8 AS reset_us,
    0::pg_catalog.int8 AS evictions,
    pg_catalog.current_setting('pg_wait_sampling.profile_pid', true)::pg_catalog.bool AS by_process
