-- The texts of the host's files, read by the server. {paths} is an array of names.
-- Privileges: pg_read_server_files, and EXECUTE on pg_read_file(text, bigint, bigint, boolean).
SELECT f.path::pg_catalog.text AS path,
    pg_catalog.pg_read_file(f.path, 0, 1048576, true)::pg_catalog.text AS text
FROM (
    SELECT pg_catalog.unnest({paths}::pg_catalog.text[])
    UNION ALL
    SELECT '/proc/' || a.pid || '/' || leaf.name
    FROM pg_catalog.pg_stat_activity AS a
    CROSS JOIN (VALUES ('stat'), ('schedstat')) AS leaf (name)
    WHERE a.backend_type IS NOT NULL
) AS f (path)
UNION ALL
SELECT '/proc/' || a.pid || '/type', a.backend_type::pg_catalog.text
FROM pg_catalog.pg_stat_activity AS a
WHERE a.backend_type IS NOT NULL
