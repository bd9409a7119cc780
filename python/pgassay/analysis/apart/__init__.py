"""Runs made apart: how much they differ, and how little that says.

Decisions of this room:

- Nothing is randomised between runs, so their difference holds whatever changed from one to the
  other: the server, its host, the hour, the start. A verdict says that they differ by more than
  runs of one thing do, never why.
- The spread of trials inside a run is a lower bound: it does not hold what all trials of a run
  share. So no verdict rests on it alone. The spread between runs is what the user states; else that
  of repeated runs, where sides have several (then the run is the unit); else it is assumed
  (`spread.toml`).
- An assumed spread is at least as large as the slow changes inside the runs. The host's noise
  history does not enter: it is of trials inside runs, and a comparison should not depend on which
  machine it is made on.
"""
