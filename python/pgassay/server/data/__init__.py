"""The workload's data on a server, and how they are put back before a trial.

Decisions of this room:

- A reset by template makes two databases of its own from a copy of the user's, which is only read:
  so nothing in it has to be put back. Their names are drawn at random, so that dropping one by name
  never hits a database of somebody else.
- Caches are dropped file by file (posix_fadvise) and not by drop_caches: that needs no root and
  leaves the pages of other programs alone. mincore verifies it.
"""
