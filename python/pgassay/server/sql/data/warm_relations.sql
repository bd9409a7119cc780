-- Everything with blocks of its own that a user made in this database, the smallest first.
SELECT oid, pg_catalog.pg_relation_size(oid) / current_setting('block_size')::bigint AS blocks
  FROM pg_catalog.pg_class
 WHERE oid >= 16384 AND relkind IN ('r', 'm', 'i', 't', 'S') AND relpersistence <> 't'
   AND pg_catalog.pg_relation_size(oid) > 0
 ORDER BY blocks, oid
