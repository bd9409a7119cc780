"""How fast a server's log is read, and how much memory that takes."""
