SELECT count(pg_logical_emit_message(false, 'bench', repeat('x', 100))) FROM generate_series(1, 200);
