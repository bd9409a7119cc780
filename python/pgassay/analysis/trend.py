"""How fast a series drifts, whatever its stalls and its inertia.

Enters: one evenly sampled series. Leaves: a slope over the whole of it, with an interval.
Never: takes neighbours as independent, or its inertia as known: of what the data leave open, the
more inert is taken.

The slope is Theil's and Sen's, the median of the slopes of all pairs (Theil 1950, Sen 1968). How
far it may be off is read from how the series moves as slowly as a line does, but not along it: its
projections on the next six orthogonal polynomials, the way of Müller and Watson (Econometrica 76,
2008) and of Lazarus, Lewis, Stock and Watson (Journal of Business & Economic Statistics 36, 2018),
with Student's t of six degrees. How much more a line moves than these follows from the series'
inertia (inertia.py); docs/methods.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.change_points import without_spikes
from pgassay.analysis.inertia import inertia_of

Array = NDArray[np.float64]
FEWEST = 20
_BINS = 40
"""Of the slope: the pairs of more would take long and add nothing."""
_FINE_BINS = 120
"""Of the inertia."""
_SLOW_MOVES = 6
_LOST_TO_MEDIANS = 1.05
"""Variance of Theil's and Sen's slope to that of least squares, of normal noise (Sen 1968)."""
_FITTED = 2
"""Level and slope."""


@dataclass(frozen=True)
class Drift:
    """Change from the beginning to the end, in the series' unit."""

    total: float
    low: float
    high: float


def drift(values: Array) -> Drift | None:
    """None for a short series or one that does not vary, a spike aside."""
    if len(values) < FEWEST or np.ptp(values) <= 1e-12 * float(np.max(np.abs(values))):
        return None
    coarse = _binned(values, _BINS)
    total = _slope(coarse) * len(coarse)
    fine = _binned(values, _FINE_BINS)
    n = len(fine)
    level = fine - total * np.arange(n) / n
    reach = _reach(without_spikes(level - np.median(level)))
    if total == 0.0 and reach == 0.0:
        return None
    return Drift(total, total - reach, total + reach)


def _binned(values: Array, bins: int) -> Array:
    """Means of neighbours."""
    size = math.ceil(len(values) / bins)
    whole = len(values) // size
    means: Array = values[: whole * size].reshape(whole, size).mean(axis=1)
    return means


def _slope(values: Array) -> float:
    """Theil and Sen's."""
    early, late = np.triu_indices(len(values), 1)
    return float(np.median((values[late] - values[early]) / (late - early)))


def _reach(residuals: Array) -> float:
    """Half of the 95 % interval of the change over the whole series."""
    from scipy import linalg  # time to load, which most commands can do without

    n = len(residuals)
    moves = _polynomials(n)
    projected = moves @ residuals
    line = moves[1]
    left = residuals - residuals.mean() - projected[1] * line
    if not np.any(left):
        return 0.0
    covariances = linalg.toeplitz(inertia_of(left, _FITTED).covariances(n))
    # Only their ratios count: how large the movement is, is read from the projections.
    expected = np.einsum("ij,ij->i", moves, moves @ covariances)
    level = float(np.mean(projected[2:] ** 2 / expected[2:]))
    error = math.sqrt(_LOST_TO_MEDIANS * level * expected[1])
    # A unit of the line's projection is so much from end to end.
    end_to_end = float(line[-1] - line[0]) * n / (n - 1)
    return float(special.stdtrit(_SLOW_MOVES, 0.975)) * error * abs(end_to_end)


@lru_cache(maxsize=64)
def _polynomials(n: int) -> Array:
    """Rows of orthonormal polynomials over n places, of degree 0 to seven."""
    powers = np.vander(np.linspace(-1.0, 1.0, n), _SLOW_MOVES + 2, increasing=True)
    orthonormal: Array = np.linalg.qr(powers)[0].T
    return orthonormal
