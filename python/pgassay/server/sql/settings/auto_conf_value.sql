-- What postgresql.auto.conf says of one setting; needs pg_show_all_file_settings().
SELECT setting
  FROM pg_file_settings
 WHERE sourcefile ~ 'postgresql[.]auto[.]conf$' AND lower(name) = lower(%s)
 ORDER BY seqno DESC
 LIMIT 1
