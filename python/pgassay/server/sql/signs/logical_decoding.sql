-- Logical slots, in whatever database: all decode the WAL of the whole cluster.
SELECT count(*),
       string_agg(slot_name || ' (' || plugin || CASE WHEN active THEN ', active)' ELSE ')' END,
                  '; ' ORDER BY slot_name)
  FROM pg_replication_slots
 WHERE slot_type = 'logical'
