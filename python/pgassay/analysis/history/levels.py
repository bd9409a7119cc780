"""Where the level of a short series of runs changed, by how much, and between which runs.

Enters: one value for each run, in the order of time. Leaves: the levels and the changes between
them. Never: takes single odd runs, or runs that resemble their neighbours, for a change of level.

Optimal partitioning (PELT, Killick, Fearnhead and Eckley 2012) with a small penalty proposes too
many changes. The weakest is dropped until each that is left is certain: a t test of the two levels
beside it, with the pooled variance, the autocorrelation of what is left (Kendall's correction of
its bias), and a correction for the number of places in which it could have been found. The search
for seconds (`statistics/change_points.py`) is for thousands of values: it finds nothing in a
hundred. How exactly the place is known is the interval of Bai (1997, Review of Economics and
Statistics 79, 551).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.change_points import best_pieces

Array = NDArray[np.float64]
_LIMITS = tomllib.loads((files(__package__) / "levels.toml").read_text("utf-8"))
FEWEST_RUNS: int = _LIMITS["fewest_runs"]
_SHORTEST: int = _LIMITS["shortest_level"]
_MEDIAN_OF_SQUARE = 0.4549364
"""The median of a squared standard normal number."""
_MEDIAN_TO_SD = 1.4826
_NEIGHBOURS = 3
"""On each side of a run, by whose median it is judged to be odd."""
_BAI_95 = 11.03
"""The 95 % quantile of the place of the largest value of a Brownian motion with drift."""


@dataclass(frozen=True)
class Shift:
    """A change of level."""

    at: int
    """The first run of the new level, counted from 0."""
    earliest: int
    latest: int
    """The ends of the 95 % interval of `at`."""
    difference: float
    """New level less old one, on the scale of comparison."""
    low: float
    high: float
    """The ends of its 95 % interval. As the place was chosen by the same runs, small differences
    are overestimated."""


@dataclass(frozen=True)
class Levels:
    """A series of runs as levels and the changes between them."""

    means: tuple[float, ...]
    """Of each level, on the scale of comparison."""
    shifts: tuple[Shift, ...]
    sd: float
    """Standard deviation of a run around its level."""
    inertia: float
    """Autocorrelation of neighbouring runs around their level; 0 and more."""

    @property
    def begins(self) -> tuple[int, ...]:
        """Returns the place of the first run of each level."""
        return (0, *(one.at for one in self.shifts))


@dataclass(frozen=True)
class _Fit:
    """A series with changes at given places."""

    edges: tuple[int, ...]
    """0, the places, the length."""
    means: tuple[float, ...]
    sd: float
    inertia: float

    @property
    def widening(self) -> float:
        """Times by which autocorrelation raises the variance of a mean."""
        return (1.0 + self.inertia) / (1.0 - self.inertia)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the pooled variance, fewer where neighbours resemble each other."""
        return max(2.0, self.edges[-1] / self.widening - len(self.means))

    def error(self, number: int) -> float:
        """The standard error of the difference at the change of this number."""
        first, place, last = self.edges[number : number + 3]
        return self.sd * math.sqrt(self.widening * (1 / (place - first) + 1 / (last - place)))

    def p_value(self, number: int) -> float:
        """Returns the p-value of a change, corrected for all its possible places."""
        first, place, last = self.edges[number : number + 3]
        difference = abs(self.means[number + 1] - self.means[number])
        if self.sd <= 1e-12 * max(map(abs, self.means)):
            return 0.0 if difference else 1.0
        alone = 2.0 * special.stdtr(self.degrees, -difference / self.error(number))
        places = _places(self.edges[-1], min(place - first, last - place))
        return float(min(1.0, places * alone))


def levels_of(values: Sequence[float], share: float = 1.0) -> Levels:
    """Divides a series into levels; `share` is the part of the false alarms that it may take, where
    several series are looked at together."""
    series = without_odd_runs(np.asarray(values, dtype=np.float64))
    places = _proposed(series)
    fit = _fitted(series, places)
    while places:
        chances = [fit.p_value(number) for number in range(len(places))]
        worst = int(np.argmax(chances))
        if chances[worst] <= share * _LIMITS["false_alarms"]:
            break
        places = places[:worst] + places[worst + 1 :]
        fit = _fitted(series, places)
    shifts = tuple(_shift(fit, number) for number in range(len(places)))
    return Levels(fit.means, shifts, fit.sd, fit.inertia)


def without_odd_runs(series: Array) -> Array:
    """Moves runs that are far from the median of their neighbours as near as the limit."""
    if len(series) < FEWEST_RUNS:
        return series
    around = np.pad(series, _NEIGHBOURS, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(around, 2 * _NEIGHBOURS + 1)
    medians = np.median(windows, axis=1)
    away = series - medians
    reach = _LIMITS["far"] * _MEDIAN_TO_SD * float(np.median(np.abs(away)))
    moved: Array = medians + np.clip(away, -reach, reach) if reach else series
    return moved


def _proposed(series: Array) -> list[int]:
    """More places than there are changes."""
    if len(series) < FEWEST_RUNS:
        return []
    squares = np.diff(series) ** 2
    variance = float(np.median(squares)) / (2.0 * _MEDIAN_OF_SQUARE)
    smallest = 1e-12 * float(np.max(np.abs(series))) ** 2 + 1e-300
    penalty = max(_LIMITS["wide_net"] * variance, smallest)
    return best_pieces((series - series.mean())[:, None], penalty, _SHORTEST)[:-1]


def _fitted(series: Array, places: Sequence[int]) -> _Fit:
    edges = (0, *places, len(series))
    pieces = [series[first:last] for first, last in pairwise(edges)]
    means = tuple(float(piece.mean()) for piece in pieces)
    left = np.concatenate([piece - piece.mean() for piece in pieces])
    squares = float(left @ left)
    sd = math.sqrt(squares / max(1, len(series) - len(pieces)))
    return _Fit(edges, means, sd, _inertia(left, squares, len(places)))


def _inertia(left: Array, squares: float, changes: int) -> float:
    """The autocorrelation of neighbours, raised by what the estimate of means takes from it."""
    if not squares:
        return 0.0
    raw = float(left[1:] @ left[:-1]) / squares
    raised = raw + (1.0 + 3.0 * raw + 2.0 * changes) / len(left)
    return float(min(_LIMITS["most_inertia"], max(0.0, raised)))


def _places(runs: int, shorter: int) -> float:
    """How many independent places a change can have beside a level of so many runs, at most."""
    whole = 12.0 * math.log(runs) - 20.0
    return max(1.0, min(runs - 2 * _SHORTEST + 1, max(whole, 3.0 * runs / shorter)))


def _shift(fit: _Fit, number: int) -> Shift:
    first, place, last = fit.edges[number : number + 3]
    difference = fit.means[number + 1] - fit.means[number]
    reach = float(special.stdtrit(fit.degrees, 0.975)) * fit.error(number)
    spread = fit.widening * (fit.sd / difference) ** 2
    around = math.floor(_BAI_95 * spread) + (1 if fit.sd else 0)
    return Shift(
        at=place,
        earliest=max(first + 1, place - around),
        latest=min(last - 1, place + around),
        difference=difference,
        low=difference - reach,
        high=difference + reach,
    )
