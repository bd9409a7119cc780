-- Publications of this database, where our schema will be; others cannot take its tables in.
SELECT count(*),
       string_agg(pubname || CASE WHEN puballtables THEN ' (all tables)' ELSE '' END, '; '
                  ORDER BY pubname)
  FROM pg_publication
