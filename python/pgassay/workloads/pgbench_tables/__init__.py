"""pgbench's own tables: made, scaled and vacuumed as pgbench does it."""
