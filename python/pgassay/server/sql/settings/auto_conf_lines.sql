-- The entries of postgresql.auto.conf in their order; needs pg_show_all_file_settings().
SELECT name, setting
  FROM pg_file_settings
 WHERE sourcefile ~ 'postgresql[.]auto[.]conf$' AND name IS NOT NULL
 ORDER BY seqno
