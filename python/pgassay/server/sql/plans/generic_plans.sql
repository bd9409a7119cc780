-- This session plans without the values of parameters, and can write nothing.
SELECT pg_catalog.set_config(name, wanted, false)
  FROM (VALUES ('plan_cache_mode', 'force_generic_plan'),
               ('default_transaction_read_only', 'on')) AS planning(name, wanted)
  JOIN pg_catalog.pg_settings USING (name)
