"""What must be undone: the record of changes, locks, undoing one after another.

Decisions of this room:

- Every change is in the journal, on disk, before it is made, with what was found. A change that
  cannot be journaled is not made. An undo that cannot be journaled is still made: undoing twice is
  harmless, and a full disk must not keep a server from being restored.
- What is changed on an existing server is also recorded by its system identifier, outside the run
  directory: so the next run finds out that a run was killed there, stops, and names `pgassay
  recover`.
"""
