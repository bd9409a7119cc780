-- For this transaction: a count reads the whole table itself, and no index in its stead.
SELECT set_config(name, value, true)
  FROM (VALUES ('enable_indexscan', 'off'), ('enable_indexonlyscan', 'off'),
               ('enable_bitmapscan', 'off'), ('max_parallel_workers_per_gather', '0'),
               ('synchronize_seqscans', 'off')) AS wanted (name, value)
