"""Settings of a server: read, checked, changed and put back.

Decisions of this room:

- A server that our setting keeps from starting is mended by removing our lines from
  `postgresql.auto.conf`; the journal knows which lines are ours. ALTER SYSTEM needs a running
  server.
- Just before a restart the files are read once more: a restart puts into force whatever others have
  written into them meanwhile. Where that is not ours, the run puts its own line back and stops.
- One module decides whose a line is: as it was found, ours, or written by others since. Runs and
  recovery ask it alike.
"""
