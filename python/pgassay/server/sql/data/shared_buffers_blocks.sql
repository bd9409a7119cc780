-- How many blocks fit into shared buffers.
SELECT setting::bigint FROM pg_catalog.pg_settings WHERE name = 'shared_buffers'
