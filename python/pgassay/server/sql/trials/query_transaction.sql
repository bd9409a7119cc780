-- Before each execution of a query. The SELECT takes the transaction's first snapshot, after which
-- nothing in it can make READ ONLY READ WRITE.
BEGIN {mode}; SELECT {settings}
