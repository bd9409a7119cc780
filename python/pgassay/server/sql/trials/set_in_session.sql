DO $set$
DECLARE found text;
BEGIN
    SELECT string_agg(lower(name), ', ') INTO found FROM pg_catalog.pg_settings
     WHERE lower(name) IN ({names}) AND source = 'session';
    IF found IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = '{sqlstate}', MESSAGE = found;
    END IF;
END $set$;
