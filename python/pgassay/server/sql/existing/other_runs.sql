-- Sessions other than ours that hold the run lock, in whatever database: an advisory lock
-- excludes only within one, settings belong to all. Parameters: the two keys.
SELECT held.pid, coalesce(activity.datname, '?'), coalesce(activity.usename, '?')
  FROM pg_locks AS held
  LEFT JOIN pg_stat_activity AS activity USING (pid)
 WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 2
   AND held.classid = %s::int8::oid AND held.objid = %s::int8::oid
   AND held.pid <> pg_backend_pid()
 LIMIT 1
