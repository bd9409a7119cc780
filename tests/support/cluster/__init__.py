"""Ray clusters of several nodes on this machine."""
