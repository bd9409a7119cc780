-- Takes options of columns away, by name; on a copy alone, as a superuser who may change catalogues.
UPDATE pg_catalog.pg_attribute
   SET attoptions = (SELECT array_agg(option) FROM unnest(attoptions) option
                      WHERE split_part(option, '=', 1) <> ALL (%(unknown)s))
 WHERE EXISTS (SELECT FROM unnest(attoptions) option
                WHERE split_part(option, '=', 1) = ANY (%(unknown)s))
