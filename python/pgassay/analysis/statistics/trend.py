"""The linear trend of an autocorrelated series, robust against single stalls.

Enters: one evenly sampled series. Leaves: the change from beginning to end, with an interval.
Never: assumes independent neighbours or a known autocorrelation.

The slope is the median of the slopes of all pairs (Theil 1950, Sen 1968). Its error comes from
movement as slow as a line but orthogonal to it: the projections on the next six orthogonal
polynomials (Müller and Watson, Econometrica 76, 2008; Lazarus, Lewis, Stock and Watson, Journal of
Business & Economic Statistics 36, 2018), with Student's t of six degrees. The ratio of a line's
variance to theirs depends on the autocorrelation, so the interval is a mixture over the likely ones
(inertia.py); docs/methods/diagnosis.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.change_points import without_spikes
from pgassay.analysis.statistics.inertia import GRID, likely_inertia

Array = NDArray[np.float64]
FEWEST = 20
_BINS = 40
"""For the slope: more bins take longer and add nothing."""
_FINE_BINS = 120
"""For the autocorrelation."""
_SLOW_MOVES = 6
_LOST_TO_MEDIANS = 1.05
"""Variance of the Theil-Sen slope relative to least squares, for normal noise (Sen 1968)."""


@dataclass(frozen=True)
class Drift:
    """The change from beginning to end, in the series' unit, with its 95 % interval."""

    total: float
    low: float
    high: float
    is_sure: bool
    """Whether the 97.5 % interval excludes zero: a trial is unsteady by a trend or by changes of
    its mean, and the two share 5 %."""


def drift(values: Array) -> Drift | None:
    """The trend; None for a short or constant series."""
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
    """The Theil-Sen slope."""
    early, late = np.triu_indices(len(values), 1)
    return float(np.median((values[late] - values[early]) / (late - early)))


def _reaches(residuals: Array) -> tuple[float, float]:
    """Half-widths of the 95 % and 97.5 % intervals of the change over the whole series."""
    n = len(residuals)
    moves = _polynomials(n)
    columns = np.column_stack([np.ones(n), np.linspace(-1.0, 1.0, n)])
    likely = likely_inertia(residuals - residuals.mean(), columns)
    if likely is None:
        return 0.0, 0.0
    projected = moves[2:] @ residuals
    expected = _expected(n)
    # Only the ratios of `expected` count; the projections give the size of the movement.
    level = (projected**2 / expected[:, 2:]).mean(axis=1)
    errors = np.sqrt(_LOST_TO_MEDIANS * level * expected[:, 1])
    # From the unit of the line's projection to the change from end to end.
    errors *= abs(float(moves[1, -1] - moves[1, 0])) * n / (n - 1)
    return _half_width(errors, likely.weights, 0.05), _half_width(errors, likely.weights, 0.025)


def _half_width(errors: Array, weights: Array, alpha: float) -> float:
    """Half-width of the interval of a t whose error is a weighted mixture."""
    from scipy import optimize  # a third of a second to load, which most commands can do without

    def excess(reach: float) -> float:
        beyond = 2.0 * special.stdtr(_SLOW_MOVES, -reach / np.maximum(errors, 1e-300))
        return float(weights @ beyond) - alpha

    student = float(special.stdtrit(_SLOW_MOVES, 1.0 - alpha / 2.0))
    low, high = student * float(errors.min()), student * float(errors.max())
    return low if high <= low * (1.0 + 1e-12) else float(optimize.brentq(excess, low, high))


@lru_cache(maxsize=8)
def _expected(n: int) -> Array:
    """The expected square of the projection on each polynomial, `GRID` × degrees."""
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
    """Orthonormal polynomials over n places, of degree 0 to 7, as rows."""
    powers = np.vander(np.linspace(-1.0, 1.0, n), _SLOW_MOVES + 2, increasing=True)
    orthonormal: Array = np.linalg.qr(powers)[0].T
    return orthonormal
