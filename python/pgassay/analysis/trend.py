"""How fast a series drifts, whatever its stalls and its inertia.

Enters: one evenly sampled series. Leaves: a slope over the whole of it, with an interval.
Never: takes neighbours as independent, or its inertia as known: of what the data leave open, the
more inert is taken.

The slope is Theil's and Sen's, the median of the slopes of all pairs (Theil 1950, Sen 1968). How
far it may be off is read from how the series moves as slowly as a line does, but not along it: its
projections on the next six orthogonal polynomials, the way of Müller and Watson (Econometrica 76,
2008) and of Lazarus, Lewis, Stock and Watson (Journal of Business & Economic Statistics 36, 2018),
with Student's t of six degrees. How much more a line moves than these follows from the series'
inertia; the interval is that of all inertias its likelihood leaves open, by their weight
(inertia.py); docs/methods-diagnosis.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.change_points import without_spikes
from pgassay.analysis.inertia import GRID, likely_inertia

Array = NDArray[np.float64]
FEWEST = 20
_BINS = 40
"""Of the slope: the pairs of more would take long and add nothing."""
_FINE_BINS = 120
"""Of the inertia."""
_SLOW_MOVES = 6
_LOST_TO_MEDIANS = 1.05
"""Variance of Theil's and Sen's slope to that of least squares, of normal noise (Sen 1968)."""


@dataclass(frozen=True)
class Drift:
    """Change from the beginning to the end, in the series' unit."""

    total: float
    low: float
    high: float
    """Of the 95 % interval."""
    is_sure: bool
    """Whether the 97.5 % interval excludes zero: a trial that is called unsteady for a trend or for
    changes of its mean shares 5 % between the two."""


def drift(values: Array) -> Drift | None:
    """None for a short series or one that does not vary, a spike aside."""
    if len(values) < FEWEST or np.ptp(values) <= 1e-12 * float(np.max(np.abs(values))):
        return None
    coarse = _binned(values, _BINS)
    total = _slope(coarse) * len(coarse)
    fine = _binned(values, _FINE_BINS)
    n = len(fine)
    level = fine - total * np.arange(n) / n
    reach, sure = _reaches(without_spikes(level - np.median(level)))
    if total == 0.0 and reach == 0.0:
        return None
    return Drift(total, total - reach, total + reach, abs(total) > sure)


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


def _reaches(residuals: Array) -> tuple[float, float]:
    """Half of the 95 % interval of the change over the whole series, and of the 97.5 % one."""
    n = len(residuals)
    moves = _polynomials(n)
    columns = np.column_stack([np.ones(n), np.linspace(-1.0, 1.0, n)])
    likely = likely_inertia(residuals - residuals.mean(), columns)
    if likely is None:
        return 0.0, 0.0
    projected = moves[2:] @ residuals
    expected = _expected(n)
    # Only their ratios count: how large the movement is, is read from the projections.
    level = (projected**2 / expected[:, 2:]).mean(axis=1)
    errors = np.sqrt(_LOST_TO_MEDIANS * level * expected[:, 1])
    # A unit of the line's projection is so much from end to end.
    errors *= abs(float(moves[1, -1] - moves[1, 0])) * n / (n - 1)
    return _half_width(errors, likely.weights, 0.05), _half_width(errors, likely.weights, 0.025)


def _half_width(errors: Array, weights: Array, alpha: float) -> float:
    """Of the interval of a t whose error is one of several, each with its weight."""
    from scipy import optimize  # a third of a second to load, which most commands can do without

    def excess(reach: float) -> float:
        beyond = 2.0 * special.stdtr(_SLOW_MOVES, -reach / np.maximum(errors, 1e-300))
        return float(weights @ beyond) - alpha

    student = float(special.stdtrit(_SLOW_MOVES, 1.0 - alpha / 2.0))
    low, high = student * float(errors.min()), student * float(errors.max())
    return low if high <= low * (1.0 + 1e-12) else float(optimize.brentq(excess, low, high))


@lru_cache(maxsize=8)
def _expected(n: int) -> Array:
    """`GRID` × degrees: the mean square of the projections on each polynomial."""
    from scipy import linalg  # time to load, which most commands can do without

    moves, lags = _polynomials(n), np.arange(n)
    found = np.empty((len(GRID.correlations), len(moves)))
    for own, rho, fast in zip(found, GRID.correlations, GRID.fast, strict=True):
        covariances = (1.0 - fast) * rho**lags
        covariances[0] = 1.0
        own[:] = np.einsum("ij,ij->i", moves, moves @ linalg.toeplitz(covariances))
    return found


@lru_cache(maxsize=64)
def _polynomials(n: int) -> Array:
    """Rows of orthonormal polynomials over n places, of degree 0 to seven."""
    powers = np.vander(np.linspace(-1.0, 1.0, n), _SLOW_MOVES + 2, increasing=True)
    orthonormal: Array = np.linalg.qr(powers)[0].T
    return orthonormal
