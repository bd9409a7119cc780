"""`pgassay observe`."""
