CREATE {persistence} TABLE pgbench_accounts (
    aid {key} NOT NULL, bid int, abalance int, filler char(84)
) WITH (fillfactor = {fillfactor}) {tablespace}
