ALTER TABLE {table} ADD PRIMARY KEY ({column}) {index_tablespace}
