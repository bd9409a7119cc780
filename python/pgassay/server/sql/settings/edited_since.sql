-- Which of some files, and of those that say who is let in, were written after the server had last
-- loaded its configuration. Times of files come in whole seconds, cut off.
-- Parameter: paths.
SELECT path
  FROM unnest(%s::text[] || current_setting('hba_file') || current_setting('ident_file')) AS path,
       LATERAL (SELECT modification FROM pg_stat_file(path, true)) AS file
 WHERE modification > pg_conf_load_time() AND modification <= clock_timestamp()
