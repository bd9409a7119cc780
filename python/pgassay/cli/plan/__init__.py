"""`pgassay plan`."""
