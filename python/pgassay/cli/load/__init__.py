"""`pgassay load`."""
