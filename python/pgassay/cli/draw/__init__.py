"""`pgassay draw`: a workload from a running server's statistics or its log, and its check."""
