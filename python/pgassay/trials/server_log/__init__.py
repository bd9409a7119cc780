"""The server's log: found, followed, read in any of its forms, and told as events."""
