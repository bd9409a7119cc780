-- Before each execution of a query. The SELECT takes the transaction's first snapshot, after which
-- nothing in it can make READ ONLY READ WRITE. The query's timeout begins with it.
BEGIN {mode}; {hides}SELECT {settings}
