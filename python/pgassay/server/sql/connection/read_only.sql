-- Whether new transactions of this session may write nothing, by what setting, and who is asking.
SELECT source, sourcefile, session_user::text, current_database()::text
  FROM pg_settings
 WHERE name = 'default_transaction_read_only' AND setting = 'on' AND NOT pg_is_in_recovery()
