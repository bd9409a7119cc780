-- A control session must outlive whatever limits the experiment puts on ordinary ones. Where its machine
-- loses power, the server notices within half a minute, and frees the lock of the run.
-- Parameter: its own statement timeout. Names the server does not know are passed over.
SELECT set_config(name, wanted, false)
  FROM (VALUES ('statement_timeout', %s),
               ('lock_timeout', '0'),
               ('idle_session_timeout', '0'),
               ('idle_in_transaction_session_timeout', '0'),
               ('transaction_timeout', '0'),
               ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
               ('tcp_keepalives_count', '3'),
               ('default_transaction_read_only', 'off')) AS control(name, wanted)
  JOIN pg_settings USING (name)
