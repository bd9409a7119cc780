-- The processes of a server that insert into WAL beside its sessions, in this order: checkpointer, background
-- writer, WAL writer. 0 for one that this user may not see.
SELECT coalesce(min(process.pid), 0)
FROM pg_catalog.unnest(ARRAY['checkpointer', 'background writer', 'walwriter']) WITH ORDINALITY AS known (kind, place)
LEFT JOIN pg_catalog.pg_stat_activity AS process ON process.backend_type = known.kind
GROUP BY known.place
ORDER BY known.place;
