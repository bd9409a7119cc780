"""`pgassay profile`."""
