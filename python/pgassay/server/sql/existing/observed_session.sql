-- A session that only looks: no write of ours can succeed, and nothing waits long for us.
-- Parameters: none. Names the server does not know are passed over.
SELECT set_config(name, wanted, false)
  FROM (VALUES ('lock_timeout', '1s'),
               ('default_transaction_read_only', 'on')) AS observer(name, wanted)
  JOIN pg_settings USING (name)
