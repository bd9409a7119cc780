-- Why pg_hba.conf would not be loaded: a reload keeps the rules of before, a start fails.
SELECT current_setting('hba_file'), line_number, error
  FROM pg_hba_file_rules
 WHERE error IS NOT NULL
 ORDER BY line_number
 LIMIT 1
