"""What time each look at the sessions stands for.

Enters: when was looked, since when, and when nothing was seen. Leaves: a time for each
look. Never: lets a look stand for time in which the server did not answer.

Looks are not evenly spaced: a sampler rests after a slow answer, and comes late to a server that
stands still. Counted one by one, slow phases would weigh too little. So each look stands for the
time that is nearer to it than to any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]
Floats = NDArray[np.float64]

LONGEST_NS = 130 * 10**9
"""A sampler rests for a minute at most, and looks once a minute at least; a longer pause is none of
its own making."""
_LEAST_NS = 10**6
"""A single look with gaps on both sides still was one."""


def usual_ns(ticks_ns: Times) -> float:
    """The usual pause between two looks; 0 where too few tell."""
    return float(np.median(np.diff(ticks_ns))) if len(ticks_ns) > 2 else 0.0


def times_of_looks(
    ticks_ns: Times, since_ns: int | None = None, gaps: Sequence[tuple[int, int]] = ()
) -> Floats:
    """For each look in order, in ns: half of the pauses before and after it, and where another
    stretch of looks ended at `since_ns`, all of the first pause.

    Beside a gap, a pause too long, and at the ends, a look has half of the usual pause.
    """
    if not len(ticks_ns):
        return np.zeros(0)
    half = usual_ns(ticks_ns) / 2
    pauses = np.diff(ticks_ns)
    shares = np.r_[half, np.where(_unseen(ticks_ns, gaps), half, pauses / 2), half]
    if since_ns is not None:
        first = np.array([min(since_ns, ticks_ns[0]), ticks_ns[0]])
        if not _unseen(first, gaps)[0]:
            shares[0] = first[1] - first[0]
    times: Floats = shares[:-1] + shares[1:]
    if since_ns is not None:
        times[-1] -= half  # the next stretch has it
    return np.maximum(times, _LEAST_NS)


def _unseen(times_ns: Times, gaps: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which pauses were not the sampler's own."""
    found: NDArray[np.bool_] = np.diff(times_ns) > LONGEST_NS
    for begin, end in gaps:
        found |= (times_ns[:-1] < end) & (times_ns[1:] > begin)
    return found
