"""`pgassay study`."""
