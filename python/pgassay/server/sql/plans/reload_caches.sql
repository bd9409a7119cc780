-- Planning reads what the session knows of tables anew, outside of the time of a query.
EXPLAIN {statement}
