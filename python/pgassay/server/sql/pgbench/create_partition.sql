CREATE {persistence} TABLE {name} PARTITION OF pgbench_accounts
FOR VALUES {bounds} WITH (fillfactor = {fillfactor})
