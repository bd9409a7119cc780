"""A load drawn from a server, run on a copy of it, and compared with the load itself."""
