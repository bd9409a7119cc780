-- Whose a schema is. Parameter: its name. No row: there is none.
SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = %s
