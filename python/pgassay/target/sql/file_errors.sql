-- Why the configuration files could not be taken over.
SELECT sourcefile, sourceline, coalesce(name, ''), error
  FROM pg_file_settings
 WHERE error IS NOT NULL
 ORDER BY (name IS NULL) DESC, seqno
 LIMIT 1
