"""Which checkpoint of the log is which one that the server counted.

Enters: counted checkpoints, those that the log tells. Leaves: pairs of them.
Never: gives one of the log two counts, or doubts one that the log tells.

No two checkpoints of a server overlap, so a counted one is that of the log which was going on when
it was counted: as it began, or, of one that is not spread, when it had ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pgassay.trials.counted_checkpoints import Counted
from pgassay.trials.record import Checkpoint

_SLACK_NS = 2_000_000_000
"""How late a count may be seen: before 15 statistics took a second to be shown, and a log's time
may be cut down to its second."""


def pairs(counted: Sequence[Counted], logged: Sequence[Checkpoint]) -> dict[Counted, Checkpoint]:
    """Counted ones and what the log tells of them; the others it does not tell."""
    left = sorted(logged, key=lambda one: one.started_ns)
    found = {}
    for one in sorted(counted, key=lambda one: one.checkpoint.started_ns):
        same = next((other for other in left if _may_be(one, other)), None)
        if same is not None:
            left.remove(same)
            found[one] = same
    return found


def _may_be(one: Counted, logged: Checkpoint) -> bool:
    ended_ns = math.inf if logged.ended_ns is None else logged.ended_ns
    return (
        one.checkpoint.started_ns >= logged.started_ns - _SLACK_NS
        and one.since_ns <= ended_ns + _SLACK_NS
    )
