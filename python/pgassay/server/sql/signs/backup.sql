-- Base backups that stream right now.
SELECT count(*), string_agg(coalesce(phase, 'pid ' || pid), '; ')
  FROM pg_stat_progress_basebackup
