-- What sorts text in this database otherwise than by bytes, with its version: the C library or ICU.
-- to_jsonb: older versions have no such column.
WITH used AS (
    SELECT coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') AS provider
      FROM pg_database d
     WHERE datname = current_database()
       AND (to_jsonb(d) ->> 'datlocprovider' = 'i' OR datcollate !~* '^(C|POSIX)(\.|$)')
    UNION
    SELECT collprovider::text
      FROM pg_collation c JOIN pg_attribute ON attcollation = c.oid
     WHERE attrelid >= 16384 AND pg_collation_actual_version(c.oid) IS NOT NULL)
SELECT CASE provider WHEN 'c' THEN 'libc' ELSE 'ICU' END, version
  FROM used,
       LATERAL (SELECT pg_collation_actual_version(oid) AS version
                  FROM pg_collation
                 WHERE collprovider = provider::"char"
                   AND pg_collation_actual_version(oid) IS NOT NULL
                 ORDER BY oid
                 LIMIT 1) AS of_the_provider
 WHERE provider IN ('c', 'i')
