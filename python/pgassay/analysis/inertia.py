"""How inert a series may be: what its likelihood leaves open.

Enters: a series, and what may be in it (its mean, steps, a line). Leaves: `LikelyInertia`.
Never: takes one estimate for the truth: short series do not tell 0.9 from 0.95, nor slow movement
under fast noise from less slow one without.

The model is slow movement, a first-order autoregression, under noise without memory. For every pair
of its correlation and its share on a grid the exact likelihood comes from one pass of Kalman's
filter; what may be in the series is fitted by generalised least squares at each of them and taken
out of the likelihood (restricted likelihood: Patterson and Thompson, Biometrika 58, 1971; Harville
1974), or a series would look the less inert the more was fitted to it. All pairs alike likely
beforehand, that gives their weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_PLACES = 600
"""Longer series are looked at in means of several values: their long-run variance is the same."""
_CORRELATIONS = (0.3, 0.5, 0.7, 0.8, 0.86, 0.9, 0.93, 0.95, 0.965, 0.98, 0.99)
_RIDGE = 1e-9
_FAST = (0.0, 0.1, 0.25, 0.45, 0.65, 0.85)


@dataclass(frozen=True)
class Grid:
    """Pairs that are looked at, of a process of variance 1."""

    correlations: Array
    fast: Array
    """Share of the variance that is noise without memory."""

    @property
    def long_run_variances(self) -> Array:
        rho = self.correlations
        found: Array = (1.0 - self.fast) * (1.0 + rho) / (1.0 - rho) + self.fast
        return found


_PAIRS = np.array([(rho, fast) for rho in _CORRELATIONS for fast in _FAST] + [(0.0, 0.0)])
GRID = Grid(_PAIRS[:, 0], _PAIRS[:, 1])


@dataclass(frozen=True)
class LikelyInertia:
    """Of the places of `GRID`."""

    weights: Array
    """They sum to 1."""
    variances: Array
    """Of the series, were this its place."""

    def long_run_variance(self, share: float) -> float:
        """n times the variance of a mean of n, as it is not exceeded with so much of the weight."""
        return quantile(GRID.long_run_variances * self.variances, self.weights, share)


def likely_inertia(values: Array, regressors: Array) -> LikelyInertia | None:
    """Of what is left of the series; None where nothing is.

    `regressors` has a column for whatever was fitted, the mean among them.
    """
    n, fitted = regressors.shape
    spread = float(np.std(values))
    if n <= fitted + 2 or spread <= 0.0:
        return None
    whitened, log_scale = _innovations(np.column_stack([values / spread, regressors]))
    products = np.matmul(whitened, whitened.transpose(0, 2, 1))
    along = products[:, 1:, :1]
    # Columns that hardly differ, such as a step beside a steep course, are not told apart.
    design = products[:, 1:, 1:] + _RIDGE * n * np.eye(fitted)
    left = products[:, 0, 0] - np.einsum("gij,gij->g", along, np.linalg.solve(design, along))
    if not np.all(left > 1e-12):
        return None
    likelihood = -0.5 * (log_scale + np.linalg.slogdet(design)[1] + (n - fitted) * np.log(left))
    weights = np.exp(likelihood - likelihood.max())
    return LikelyInertia(weights / weights.sum(), left / (n - fitted) * spread**2)


def in_means(columns: Array) -> Array:
    """Of neighbours, along the first axis, so that no more than `MOST_PLACES` are left."""
    width = -(-len(columns) // MOST_PLACES)
    whole = len(columns) // width * width
    means: Array = columns[:whole].reshape(-1, width, *columns.shape[1:]).mean(axis=1)
    return means


def quantile(values: Array, weights: Array, share: float) -> float:
    """The value that is not exceeded with so much of the weight; between places in a line, for
    what lies between two of them is possible too."""
    order = np.argsort(values)
    weights = weights[order]
    return float(np.interp(share, np.cumsum(weights) - weights / 2.0, values[order]))


def _innovations(columns: Array) -> tuple[Array, Array]:
    """Every column's error of the best forecast of each place, in its own standard deviations:
    `GRID` × columns × places; and the sum of the logarithms of the forecasts' variances."""
    filters = _forecasts(len(columns))
    # What each place adds to the forecast of the next, for all places at once; what is kept of the
    # forecast before goes from place to place.
    forecasts = np.zeros((*columns.shape, len(GRID.correlations)))
    np.multiply(filters.adds[:-1, None], columns[:-1, :, None], out=forecasts[1:])
    kept = np.empty(forecasts.shape[1:])
    last = forecasts[0]
    for keeps, forecast in zip(filters.keeps, forecasts[1:], strict=False):
        np.multiply(keeps, last, out=kept)
        forecast += kept
        last = forecast
    np.subtract(columns[:, :, None], forecasts, out=forecasts)
    forecasts *= filters.precisions[:, None]
    return np.ascontiguousarray(forecasts.transpose(2, 1, 0)), filters.log_variances[-1]


@dataclass(frozen=True)
class _Filters:
    """Places × `GRID`: how a forecast comes from the one before and from the value there."""

    keeps: Array
    adds: Array
    precisions: Array
    """One by the standard deviation of a forecast's error."""
    log_variances: Array
    """Their sums up to each place."""


def _forecasts(n: int) -> _Filters:
    """Those of a shorter series are the first of a longer one's."""
    kept = _kept_forecasts(max(n, MOST_PLACES))
    return _Filters(kept.keeps[:n], kept.adds[:n], kept.precisions[:n], kept.log_variances[:n])


@lru_cache(maxsize=2)
def _kept_forecasts(n: int) -> _Filters:
    rho, fast = GRID.correlations, GRID.fast
    slow = 1.0 - fast
    variances, gains = np.empty((2, n, len(rho)))  # of a forecast's error; of it that is slow
    unknown = slow
    for place in range(n):
        variances[place] = unknown + fast
        gains[place] = unknown / variances[place]
        unknown = rho**2 * unknown * (1.0 - gains[place]) + slow * (1.0 - rho**2)
    return _Filters(
        keeps=rho * (1.0 - gains),
        adds=rho * gains,
        precisions=1.0 / np.sqrt(variances),
        log_variances=np.cumsum(np.log(variances), axis=0),
    )
