CREATE {persistence} TABLE pgbench_branches (
    bid int NOT NULL, bbalance int, filler char(88)
) WITH (fillfactor = {fillfactor}) {tablespace}
