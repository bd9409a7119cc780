-- Enabled subscriptions, of all databases: the catalogue is shared.
SELECT count(*), string_agg(subname, '; ' ORDER BY subname)
  FROM pg_subscription
 WHERE subenabled
