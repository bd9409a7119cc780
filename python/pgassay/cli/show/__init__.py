"""`pgassay show`."""
