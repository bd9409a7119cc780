-- Who streams WAL from here: standbys and receivers such as pg_receivewal, but no base backup.
-- What others do is NULL to those without pg_monitor; that they are there is not.
SELECT count(*),
       string_agg(DISTINCT concat_ws(', ', coalesce(application_name, 'pid ' || pid), state,
                                     nullif(sync_state, 'async')), '; ')
  FROM pg_stat_replication
 WHERE coalesce(state, '') <> 'backup'
