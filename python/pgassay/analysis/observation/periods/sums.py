"""The mean of a figure over any stretch of time, by sums that run over all slices.

Enters: slices, a figure, the begins and ends of stretches. Leaves: a mean for each stretch.
Never: takes a slice for read that was not.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.model import SignalKey
from pgassay.analysis.observation.periods.model import Figure
from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats, Times

_STATEMENTS, _CALLS = "statements", "calls"


class RunningSums:
    """Slices, ready to be summed over many stretches."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._whole = np.r_[0.0, np.cumsum(slices.seconds)]

    def places(self, edges_ns: Times) -> Times:
        """Returns the first slice that begins at or after each edge."""
        found: Times = np.searchsorted(self._slices.starts_ns, edges_ns)
        return found

    def read_s(self, first: Times, last: Times) -> Floats:
        """Returns the seconds that were read of each stretch between two places."""
        found: Floats = self._whole[last] - self._whole[first]
        return found

    def of(self, figure: Figure) -> FigureSums:
        """Returns the sums of one figure."""
        seconds = self._slices.seconds
        top, known = self._total(figure.top)
        if not figure.below:
            return FigureSums(figure.times, _run(top * seconds), _run(known * seconds), None)
        below, below_known = self._total(figure.below)
        both = known & below_known
        weights = np.where(both, seconds, 0.0)
        per = _run(below * weights)
        return FigureSums(figure.times, _run(top * weights), _run(weights), per)

    def _total(self, keys: tuple[SignalKey, ...]) -> tuple[Floats, NDArray[np.bool_]]:
        """The sum of signals in each slice, and where any of them was read.

        A statement that a slice lacks was not called, where others were read.
        """
        total = np.zeros(len(self._slices))
        known = np.zeros(len(total), bool)
        if keys[0][0] == _STATEMENTS:
            known |= self._statements_read
        for key in keys:
            values = self._slices.values.get(key)
            if values is not None:
                is_known = np.isfinite(values)
                total += np.where(is_known, values, 0.0)
                known |= is_known
        return total, known

    @cached_property
    def _statements_read(self) -> NDArray[np.bool_]:
        """Where any statement was read."""
        values = self._slices.values
        rows = (row for key, row in values.items() if key[0] == _STATEMENTS and key[2] == _CALLS)
        known = np.zeros(len(self._slices), bool)
        for row in rows:
            known |= np.isfinite(row)
        return known


class FigureSums:
    """The running sums of one figure."""

    def __init__(self, times: float, top: Floats, seconds: Floats, below: Floats | None) -> None:
        self._times, self._top, self._seconds, self._below = times, top, seconds, below

    def seconds(self, first: Times, last: Times) -> Floats:
        """Returns the seconds in which the figure was read, of each stretch between two places."""
        found: Floats = self._seconds[last] - self._seconds[first]
        return found

    def means(self, first: Times, last: Times) -> Floats:
        """Returns the mean over each stretch; NaN where it was not read or has no divisor."""
        top = self._top[last] - self._top[first]
        divisor = self._seconds if self._below is None else self._below
        per = divisor[last] - divisor[first]
        # What sums of large numbers leave of zero is no divisor.
        enough = per > 1e-9 * max(float(divisor[-1]), 1e-300)
        found: Floats = np.where(enough, self._times * top / np.where(enough, per, 1.0), np.nan)
        return found


def _run(values: Floats) -> Floats:
    found: Floats = np.r_[0.0, np.cumsum(values)]
    return found
