"""What is usual for a signal at each time of an observation.

Enters: a signal's value in each slice. Leaves: the lowest and the highest usual value at each.
Never: takes one stretch that is unlike the rest for usual, unless it fills half of two hours.

The level of the surroundings is a median of the two hours around. Where the record has at least
four days, the same time of the other days counts, too: a job that runs each night is usual then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgassay.analysis.observation.slices import Slices
from pgassay.analysis.reading.binned import Floats, Times

_BIN_S = 600.0
_AROUND = 6
"""Bins on each side."""
_FEWEST_BINS = 40
_DAY_S = 86400.0
_FEWEST_DAYS = 4
_MEDIAN_TO_SD = 1.4826


@dataclass(frozen=True)
class Usual:
    """The usual values of one signal, one for each slice."""

    low: Floats
    high: Floats


class Clock:
    """Where each slice lies in short bins, and in the bins of a day."""

    def __init__(self, slices: Slices) -> None:
        seconds = (slices.starts_ns - slices.starts_ns[0]) / 1e9 + slices.width_s / 2
        span = float(seconds[-1] + slices.width_s[-1] / 2)
        shortest = float(np.median(slices.width_s))
        self._is_long = span >= (2 * _AROUND + 1) * _BIN_S
        length = _BIN_S if self._is_long else max(shortest, span / _FEWEST_BINS)
        self._seconds = seconds
        self._bin = (seconds / length).astype(np.int64)
        self._middles = (np.arange(self._bin[-1] + 1) + 0.5) * length
        bins = round(_DAY_S / _BIN_S)
        at = (seconds / _BIN_S).astype(np.int64)
        self._day, self._of_day = at // bins, at % bins
        days = int(np.ceil(span / _DAY_S - 0.25))
        self.days = days if days >= _FEWEST_DAYS else 0
        self._shape = (int(self._day[-1]) + 1, bins)

    def usual(self, row: Floats) -> Usual:
        """The usual values of a signal that is NaN where it was not read."""
        around = self._around(row)
        if not self.days:
            return Usual(around, around)
        low = self._of_other_days(row, np.fmin, np.minimum)
        high = self._of_other_days(row, np.fmax, np.maximum)
        return Usual(np.fmin(around, low), np.fmax(around, high))

    def _around(self, row: Floats) -> Floats:
        known = ~np.isnan(row)
        if not known.any():
            return row
        if not self._is_long:
            return np.full(len(row), float(np.median(row[known])))
        bins = len(self._middles)
        counts = np.bincount(self._bin[known], minlength=bins)
        sums = np.bincount(self._bin[known], row[known], minlength=bins)
        filled = np.flatnonzero(counts)
        means = sums[filled] / counts[filled]
        reach = min(_AROUND, len(means) - 1)
        padded = np.pad(means, reach, mode="reflect") if reach else means
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
        medians = np.median(windows, axis=1)
        levels: Floats = np.interp(self._seconds, self._middles[filled], medians)
        return levels

    def _of_other_days(self, row: Floats, extreme: np.ufunc, widest: np.ufunc) -> Floats:
        """The median, over the other days, of a bin's extreme value; of the widest of three
        neighbouring bins, since no job begins at the same second each night."""
        table = np.full(self._shape, np.nan)
        extreme.at(table, (self._day, self._of_day), row)
        flat = table.ravel()
        beside = extreme(extreme(flat, np.roll(flat, 1)), np.roll(flat, -1)).reshape(self._shape)
        found = np.full(self._shape, np.nan)
        for day in range(len(beside)):
            others = np.delete(beside, day, axis=0)
            known = ~np.isnan(others).all(axis=0)
            found[day, known] = np.nanmedian(others[:, known], axis=0)
        levels: Floats = found[self._day, self._of_day]
        return levels


def spread(differences: Floats) -> float:
    """A robust standard deviation of what is known."""
    known = differences[~np.isnan(differences)]
    if not len(known):
        return 0.0
    return _MEDIAN_TO_SD * float(np.median(np.abs(known - np.median(known))))


def runs_of(hits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Times:
    """The first place of each stretch of hits and the one after its last: an array of (n, 2)."""
    edges = np.flatnonzero(np.diff(np.r_[False, hits, False]))
    return edges.reshape(-1, 2)
