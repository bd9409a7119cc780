-- Publications of this database that take in our tables, or that somebody reads.
SELECT count(*),
       string_agg(pubname || CASE WHEN puballtables THEN ' (all tables)' ELSE '' END, '; '
                  ORDER BY pubname)
  FROM pg_publication
