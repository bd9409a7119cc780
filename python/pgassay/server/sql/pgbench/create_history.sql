CREATE {persistence} TABLE pgbench_history (
    tid int, bid int, aid {key}, delta int, mtime timestamp, filler char(22)
) {tablespace}
