-- The files of the log directory. Needs pg_monitor.
SELECT f.name, f.size::int8, (extract(epoch FROM f.modification) * 1000000000)::int8
  FROM pg_catalog.pg_ls_logdir() AS f
