"""`pgassay trace`."""
