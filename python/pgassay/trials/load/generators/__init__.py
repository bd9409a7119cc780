"""Load generators on several machines, as one load. The door is `on_ray.py`.

Decisions of this room:

- Every generator gets the same request and its share, i of n: the engine itself decides by the
  number of a connection, and of an arrival, whether it belongs to the share. So n generators run
  exactly the connections and arrivals of one, and their counts are added by the code that adds
  those of an engine's threads. A load of this machine alone is one generator, share 0 of 1.
- Clocks differ, so each generator's is read against ours before every trial (the fastest of
  several exchanges; half of it bounds the error), and each is told the common start by its own.
  From then on steps follow the schedule, and counts are added by their place in it.
- Which scenario a session runs is known where the engine is, for the sampler to look up within
  microseconds; of sessions of other machines it is not known, and waits by scenario are missing.
"""
