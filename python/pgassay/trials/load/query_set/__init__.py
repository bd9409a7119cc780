"""The queries of a set as the load of a trial.

Decisions of this room:

- A query goes to the server by libpq as its file has it, in a transaction that is rolled back
  whatever it did, READ ONLY on a server of the user's. Its time is that from sending it until its
  last row is here; rows are read some at a time and dropped.
- Before the executions that count each query is executed once under EXPLAIN (ANALYZE): that warms
  the caches, and gives the plan and the blocks. A query that fails there is not repeated.
- Arms that differ in indexes alternate as well: all indexes are there, and a transaction begins
  with dropping those of other arms. EXPLAIN then has the session read anew what it knows of tables.
- The executions of a short query are divided among passes over the set, for what slows a session
  down lasts for seconds.
- A query that fails is a fact with its SQLSTATE, and the trial goes on.
"""
