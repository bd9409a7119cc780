"""`pgassay sql`."""
