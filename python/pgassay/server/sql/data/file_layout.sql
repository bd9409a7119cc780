-- What a server must agree in to run on the files of another: what pg_control holds of it, and the
-- extensions that SQL may have made there.
SELECT pg_control_version, catalog_version_no, i.*,
       (SELECT array_agg(name || ' ' || default_version ORDER BY name)
          FROM pg_catalog.pg_available_extensions)
  FROM pg_catalog.pg_control_system(), pg_catalog.pg_control_init() AS i
