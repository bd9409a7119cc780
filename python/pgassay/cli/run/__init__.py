"""`pgassay run`."""
