-- A statement of this session ends soon after its client is gone, whatever it is doing (from 14 on).
SELECT pg_catalog.set_config(name, '2s', false)
FROM pg_catalog.pg_settings WHERE name = 'client_connection_check_interval'
