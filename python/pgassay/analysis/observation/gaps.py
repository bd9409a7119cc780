"""Times in which an observed server gave no answer.

Enters: the moments of samples and readings. Leaves: gaps. Never: takes a late answer for a gap.
"""

from __future__ import annotations

import numpy as np

from pgassay.analysis.reading.binned import Times
from pgassay.analysis.waits.wait_profile import usual_ns

_GAP_S = 5.0
_GAP_TICKS = 20
"""A pause is a gap when it is longer than both."""
USUAL_PAUSE_NS = _GAP_S * 1e9


def longest_pause_ns(ticks: Times) -> float | None:
    """The longest pause that is no gap; None where there are too few samples to tell."""
    usual = usual_ns(ticks)
    return max(USUAL_PAUSE_NS, _GAP_TICKS * usual) if usual else None


def gaps_in(seen: Times, longest_ns: float) -> list[tuple[int, int]]:
    """The pauses between moments, in order of time, that are longer than this."""
    long = np.flatnonzero(np.diff(seen) > longest_ns)
    return [(int(seen[at]), int(seen[at + 1])) for at in long.tolist()]
