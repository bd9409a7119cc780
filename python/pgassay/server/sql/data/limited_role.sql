-- A role for the SQL of a workload whose author is not trusted: it owns its database and may see
-- statistics, but can run no program and read or write no file. What pgassay itself uses lies in a
-- schema that this role cannot change, and what it makes in `public` is found by its own sessions only.
CREATE ROLE pgassay_load LOGIN;
GRANT pg_monitor TO pgassay_load;
ALTER DATABASE bench OWNER TO pgassay_load;
CREATE SCHEMA pgassay_extensions;
GRANT USAGE ON SCHEMA pgassay_extensions TO pgassay_load;
SET search_path = pgassay_extensions;
-- A switchback changes settings in the load's own sessions. Texts may name programs and files.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT s.name FROM pg_catalog.pg_settings AS s
         WHERE s.context = 'superuser' AND s.vartype <> 'string'
    LOOP
        EXECUTE pg_catalog.format('GRANT SET ON PARAMETER %I TO pgassay_load', name);
    END LOOP;
END
$$;
