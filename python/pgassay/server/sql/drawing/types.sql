-- What types are: their names, that of the elements or of the base type, and the labels of an enum. citext
-- is known by its name in any schema.
-- Parameters: an array of oids.
SELECT t.oid::int8, regexp_replace(format_type(t.oid, NULL), '^.*[.](?=citext)', ''),
       CASE WHEN t.typcategory = 'A' THEN regexp_replace(format_type(t.typelem, NULL), '^.*[.](?=citext)', '') END,
       CASE WHEN t.typtype = 'd' THEN regexp_replace(format_type(t.typbasetype, NULL), '^.*[.](?=citext)', '') END,
       (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
          FROM pg_enum AS e
         WHERE e.enumtypid = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END)
  FROM pg_type AS t
 WHERE t.oid::int8 = ANY (%s)
