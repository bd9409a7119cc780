CREATE {persistence} TABLE pgbench_tellers (
    tid int NOT NULL, bid int, tbalance int, filler char(84)
) WITH (fillfactor = {fillfactor}) {tablespace}
