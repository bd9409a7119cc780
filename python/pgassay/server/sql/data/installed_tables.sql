-- What a session finds under these names: the relation, whether this user may read it, whether it can be
-- vacuumed, whether it is unlogged. Parameter: the names as a script writes them.
SELECT named.name,
       found.relation::text,
       coalesce(pg_catalog.has_table_privilege(found.relation, 'SELECT'), false),
       coalesce(class.relkind IN ('r', 'm', 'p'), false),
       coalesce(class.relpersistence = 'u', false)
  FROM unnest(%s::text[]) WITH ORDINALITY AS named (name, number)
 CROSS JOIN LATERAL (SELECT pg_catalog.to_regclass(named.name) AS relation) AS found
  LEFT JOIN pg_catalog.pg_class AS class ON class.oid = found.relation
 ORDER BY named.number
