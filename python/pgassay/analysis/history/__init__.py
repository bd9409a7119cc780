"""Runs of one experiment over weeks: the level of each metric, and where it changed.

Decisions of this room:

- The unit is the run: one mean of its trials. What differs between nights is in the spread between
  runs, and never in that of the trials inside one.
- A change is a candidate for what a change of the software did: nothing was randomised.
"""
