-- An archiver that has something to archive with, or has archived already.
SELECT (current_setting('archive_mode') <> 'off'
        AND (archived_count > 0 OR failed_count > 0
             OR current_setting('archive_command') NOT IN ('', '(disabled)')
             OR coalesce(current_setting('archive_library', true), '') <> ''))::int,
       CASE WHEN archived_count = 0 AND failed_count = 0 THEN 'nothing archived yet'
            ELSE concat_ws(', ', archived_count || ' files archived',
                           nullif(failed_count, 0) || ' attempts failed',
                           'the last ' || date_trunc('second', now() - last_archived_time)
                                       || ' ago')
       END
  FROM pg_stat_archiver
