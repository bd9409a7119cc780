-- Physical slots hold WAL whether anybody reads it or not; temporary ones go with their session.
SELECT count(*),
       string_agg(slot_name || CASE WHEN active THEN ' (active)' ELSE ' (inactive)' END, '; '
                  ORDER BY slot_name)
  FROM pg_replication_slots
 WHERE slot_type = 'physical' AND NOT temporary
