-- The types of the parameters of the statement that this session has just prepared.
SELECT p.parameter_types::pg_catalog.oid[]::pg_catalog.int8[]
  FROM pg_catalog.pg_prepared_statements AS p
 WHERE p.name OPERATOR(pg_catalog.=) 'pgassay_draw'
