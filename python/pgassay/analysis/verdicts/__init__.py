"""What withdraws a verdict or adds a caveat to it.

Decisions of this room:

- A verdict is withdrawn in one place, on every metric and in everything its factor has a part in.
- Carry-over is tested with an error that is spent over looks, apart from that of the verdict: a run
  that could end goes on while carry-over looks likely, which costs blocks and no error.
- An arm that committed nothing, or that breaks its trials more often than chance explains, loses
  only its own verdicts: guards do not look at results, but an arm can cause errors.
"""
