-- What every table holds, and what ANALYZE is asked to keep of it: what is new here after SQL has
-- run is what that SQL has made. Tables of the system and temporary ones are left out.
WITH kept AS (
    SELECT attrelid AS relation,
           format('column %s: %s %s %s %s %s', attnum, atttypid, atttypmod, attcollation,
                  coalesce(attstattarget, -1),
                  (SELECT array_agg(one ORDER BY one) FROM unnest(attoptions) one
                    WHERE one ~ '^n_distinct')) AS what
      FROM pg_attribute
     WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT stxrelid, format('statistics %s: %s', oid, coalesce(stxstattarget, -1))
      FROM pg_statistic_ext
    UNION ALL
    -- Of an index, ANALYZE keeps something of its expressions only.
    SELECT indrelid,
           format('index %s: %s', indexrelid,
                  array_agg(coalesce(attstattarget, -1) ORDER BY attnum))
      FROM pg_index JOIN pg_attribute ON attrelid = indexrelid
     WHERE indexprs IS NOT NULL
     GROUP BY indrelid, indexrelid)
SELECT c.oid::int8,
       nspname::text,
       relname::text,
       relkind = 'p' AS partitioned,
       format('%s %s %s', relfilenode, pg_relation_size(c.oid),
              pg_stat_get_mod_since_analyze(c.oid)) AS rows,
       coalesce((SELECT array_agg(what) FROM kept WHERE relation = c.oid), '{}') AS kept
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
 WHERE relkind IN ('r', 'm', 'p') AND relpersistence <> 't'
   AND nspname NOT IN ('pg_catalog', 'information_schema')
