"""Workload folders, and scripts that are named on a command line."""
