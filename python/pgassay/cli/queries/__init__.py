"""`pgassay queries DIR`: a query set under each arm, without an experiment file of the user's."""
