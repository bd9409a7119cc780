"""Restarts of a server that pgassay did not start, and its return after a failed start.

Decisions of this room:

- A server is restarted by its own service (systemd, pg_ctlcluster) or by a command of the user's.
  pgassay does not rebuild the environment, limits and options of a server that somebody started in
  a shell: what it missed would show in the results.
- After a restart SQL must show a later start time and the same system identifier.
"""
