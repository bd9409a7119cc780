-- What a new data directory must agree in with this server's, and what keeps it from an upgrade.
-- to_jsonb: columns that older versions do not have are null.
SELECT pg_encoding_to_char(template.encoding) AS encoding,
       template.datcollate::text AS lc_collate,
       template.datctype::text AS lc_ctype,
       coalesce(to_jsonb(template) ->> 'datlocprovider', 'c') AS provider,
       coalesce(to_jsonb(template) ->> 'datlocale', to_jsonb(template) ->> 'daticulocale') AS locale,
       current_setting('data_checksums') = 'on' AS checksums,
       (pg_size_bytes(current_setting('wal_segment_size')) / 1048576)::int AS wal_segment_mb,
       (SELECT count(*) FROM pg_prepared_xacts) AS prepared,
       (SELECT array_agg(datname::text ORDER BY oid) FROM pg_database
         WHERE datallowconn AND datname <> 'template0') AS databases,
       -- Of the C library, where a database orders text by it; the name is of any of its locales.
       (SELECT pg_collation_actual_version(oid) FROM pg_collation
         WHERE collprovider = 'c' AND pg_collation_actual_version(oid) IS NOT NULL
           AND EXISTS (SELECT FROM pg_database used
                        WHERE coalesce(to_jsonb(used) ->> 'datlocprovider', 'c') = 'c'
                          AND used.datcollate !~* '^(C|POSIX)(\.|$)')
         LIMIT 1) AS libc
  FROM pg_database template
 WHERE template.datname = 'template0'
