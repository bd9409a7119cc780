"""Commands and runs as a user starts them, killed or stopped at a chosen moment."""
