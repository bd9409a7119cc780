COMMENT ON TABLE {table} IS {mark}
