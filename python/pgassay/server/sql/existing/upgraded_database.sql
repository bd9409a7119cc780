-- What a database takes of the programs of a newer version.
SELECT coalesce((SELECT array_agg(extname::text ORDER BY extname) FROM pg_extension), '{}')
         AS extensions,
       EXISTS (SELECT FROM pg_database d
                WHERE d.datname = current_database() AND to_jsonb(d) ->> 'datlocprovider' = 'i')
         OR EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i' AND oid >= 16384)
         OR EXISTS (SELECT FROM pg_collation c JOIN pg_attribute ON attcollation = c.oid
                     WHERE collprovider = 'i' AND attrelid >= 16384) AS icu,
       current_setting('default_toast_compression', true) IS NOT DISTINCT FROM 'lz4'
         OR EXISTS (SELECT FROM pg_attribute a
                     WHERE attrelid >= 16384 AND to_jsonb(a) ->> 'attcompression' = 'l') AS lz4
