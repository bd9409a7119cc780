"""Gates: limits on changes that a job accepts, such as `throughput>-2%`.

Decisions of this room:

- A gate has no statistics of its own. It holds by the interval that decides "equivalent" (90 %, one
  side at 5 %), and fails by the one that decides "better" and "worse" (95 %), so that a gate at the
  smallest effect never contradicts the verdict. Of metrics that are neither primary nor an endpoint
  both are the interval that is corrected for all of them.
- What withdraws a verdict leaves its gates undecided.
- A run goes on until each of its gates is decided, so they are in its plan. One that more blocks
  cannot decide (not measured, withdrawn for good) does not keep it from ending.
- Every level and load that was compared is gated; the worst of them is the gate's outcome.
"""
