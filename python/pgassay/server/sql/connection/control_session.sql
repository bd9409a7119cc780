-- A control session must outlive the time limits of ordinary ones. Where its machine
-- loses power, the server notices within half a minute, and frees the lock of the run.
-- Parameters: its own statement timeout, lock_timeout and default_transaction_read_only, NULL where
-- the user's value stays. Names the server does not know are passed over.
SELECT set_config(name, wanted, false)
  FROM (VALUES ('statement_timeout', %s::text),
               ('lock_timeout', %s::text),
               ('idle_session_timeout', '0'),
               ('idle_in_transaction_session_timeout', '0'),
               ('transaction_timeout', '0'),
               ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
               ('tcp_keepalives_count', '3'),
               ('default_transaction_read_only', %s::text)) AS control(name, wanted)
  JOIN pg_settings USING (name)
 WHERE wanted IS NOT NULL
