"""Counters over any length of time, in bins of equal width.

Enters: readings in pieces, in order of time. Leaves: a value for each bin, NaN without readings.
Never: bridges a gap, which is an outage or a counter that decreased.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Times = NDArray[np.int64]

MOST_BINS = 1200
"""Points that a chart can show distinctly."""
_WIDTHS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
_LONGEST_STEP = 3.5
"""Periods that two readings may lie apart without a gap: a slow server is read late."""
_SEEN_AT_LEAST = 0.3
"""Share of a bin that must have been read."""


def bin_edges(start_ns: int, end_ns: int) -> Times:
    """Edges of at most `MOST_BINS` bins of a round width."""
    span_s = max((end_ns - start_ns) / 1e9, 1.0)
    width_s = next((w for w in _WIDTHS_S if span_s / w <= MOST_BINS), _WIDTHS_S[-1])
    count = max(1, round(span_s / width_s))
    edges: Times = start_ns + np.arange(count + 1, dtype=np.int64) * (width_s * 10**9)
    return edges


Gaps = Sequence[tuple[int, int]]
"""Beginning and end, in ns, of the times in which nothing was read."""


class CounterTrack:
    """One counter over the whole time, added in pieces."""

    def __init__(self) -> None:
        self._times: list[Times] = []
        self._values: list[Floats] = []

    def add(self, times_ns: Times, values: Floats) -> None:
        """Add readings that are later than those before."""
        self._times.append(times_ns)
        self._values.append(values)

    def _steps(self, gaps: Gaps) -> tuple[Times, Floats, Floats]:
        """Times, the total growth up to each, and the seconds that were read up to each."""
        times, values = np.concatenate(self._times), np.concatenate(self._values)
        if len(times) < 2:
            return times, np.zeros(len(times)), np.zeros(len(times))
        lengths, steps = np.diff(times) / 1e9, np.diff(values)
        # By the lower quartile: after an outage few readings may remain.
        period = float(np.quantile(lengths, 0.25, method="lower"))
        # Of equal values only the first and last are stored: a long step without growth is no gap.
        near = lengths <= _LONGEST_STEP * max(period, 1e-9)
        unseen = within(times, gaps)
        counts = (steps == 0) | (self._is_whole(steps) & near & (unseen == 0))
        seconds = np.where(counts, lengths - unseen, 0.0)
        total = np.r_[0.0, np.cumsum(np.where(counts, self._adds(values, seconds), 0.0))]
        return times, total, np.r_[0.0, np.cumsum(seconds)]

    def _is_whole(self, steps: Floats) -> NDArray[np.bool_]:
        """Steps whose growth is known: a counter that decreased was reset."""
        whole: NDArray[np.bool_] = steps > 0
        return whole

    def _adds(self, values: Floats, seconds: Floats) -> Floats:
        """What each step adds to the total."""
        return np.diff(values)

    def growth(self, gaps: Gaps = ()) -> tuple[float, float]:
        """Total growth and the seconds in which it was read, outside `gaps`."""
        _, total, seen = self._steps(gaps)
        return (float(total[-1]), float(seen[-1])) if len(total) else (0.0, 0.0)

    def rates(self, edges_ns: Times, gaps: Gaps = ()) -> Floats:
        """Growth per second in each bin; NaN where too little of the bin was read."""
        times, total, seen = self._steps(gaps)
        if len(times) < 2:
            return np.full(len(edges_ns) - 1, np.nan)
        grown = np.diff(np.interp(edges_ns, times, total))
        seconds = np.diff(np.interp(edges_ns, times, seen))
        enough = seconds >= _SEEN_AT_LEAST * np.diff(edges_ns) / 1e9
        return np.where(enough, grown / np.maximum(seconds, 1e-9), np.nan)


class LevelTrack(CounterTrack):
    """A gauge over the whole time: its growth is value times seconds, its rate the mean value."""

    def mean(self, gaps: Gaps = ()) -> float | None:
        """The mean over the time that was read; None without readings."""
        total, seconds = self.growth(gaps)
        return total / seconds if seconds else None

    def largest(self) -> float:
        """The largest reading."""
        return float(max(values.max() for values in self._values))

    def smallest(self) -> float:
        """The smallest reading."""
        return float(min(values.min() for values in self._values))

    def stretches_at_zero(self) -> Gaps:
        """The times at zero, each extended to the readings around it."""
        times, values = np.concatenate(self._times), np.concatenate(self._values)
        at_zero = np.flatnonzero(np.minimum(values[:-1], values[1:]) == 0)
        return [(int(times[at]), int(times[at + 1])) for at in at_zero.tolist()]

    def _is_whole(self, steps: Floats) -> NDArray[np.bool_]:
        return np.ones(len(steps), bool)

    def _adds(self, values: Floats, seconds: Floats) -> Floats:
        between: Floats = (values[:-1] + values[1:]) / 2 * seconds
        return between


def summed_rates(tracks: list[CounterTrack], edges_ns: Times, gaps: Gaps = ()) -> Floats | None:
    """The sum of several counters' rates; None without counters."""
    if not tracks:
        return None
    total: Floats = np.sum([track.rates(edges_ns, gaps) for track in tracks], axis=0)
    return total


def within(times: Times, gaps: Gaps) -> Floats:
    """The seconds of each step between these times that lie in gaps."""
    found = np.zeros(len(times) - 1)
    for begin, end in _united(gaps):
        inside = np.minimum(times[1:], end) - np.maximum(times[:-1], begin)
        found += np.maximum(inside, 0) / 1e9
    return found


def _united(gaps: Gaps) -> Gaps:
    """The gaps with overlapping ones merged."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(gaps):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found
