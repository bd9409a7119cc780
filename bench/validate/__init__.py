"""Simulations with a known truth: `make validate`."""
