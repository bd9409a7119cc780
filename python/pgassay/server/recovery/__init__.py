"""Putting back what a killed run has changed on a server."""
