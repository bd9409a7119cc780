"""The plans of the load's statements in a trial.

Decisions of this room:

- Plans are read after the load of each trial, when everything measured has been read: nothing of a
  trial waits for them or finds pages that they brought into memory. The statistics that they rest
  on are those which the trial ended with.
- They are generic plans, on all versions by way of a prepared statement, whose parameters are known
  as the engine's are. No value is invented, and no statement of the workload is
  executed; planning one may evaluate functions that are declared immutable or stable.
"""
