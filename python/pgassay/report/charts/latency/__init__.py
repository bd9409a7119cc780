"""Charts of the distribution of latency."""
