"""What a run would do to a server, found out in a read-only session."""
