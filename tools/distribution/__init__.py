"""What `make dist` does: an sdist and wheels, and trying them as a user would."""
