"""Autocorrelation: of one short series by likelihood, of many series together.

Enters: one series and regressors (its mean, steps, a line), or many series. Leaves: weights over a
grid of models, or one pooled estimate. Never: picks one estimate for a short series, which cannot
tell a correlation of 0.9 from 0.95.

One series: a first-order autoregression plus white noise. For every pair of its correlation and the
share of white noise, one pass of the Kalman filter gives the exact likelihood; the regressors are
fitted by generalised least squares and integrated out (restricted likelihood: Patterson and
Thompson, Biometrika 58, 1971; Harville, Biometrika 61, 1974), or a series would look less
autocorrelated the more is fitted to it. With a uniform prior the likelihoods are the weights.

Many series: an autoregression (Levinson and Durbin) on the summed autocovariances, its order by
Akaike's criterion; its long-run variance is σ² ÷ (1 − Σφ)² (Priestley, Spectral Analysis and Time
Series, 1981). Subtracting a series' own mean lowers its autocovariances by the variance of that
mean; it is added back and the fit repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_PLACES = 600
"""Longer series are averaged first, which leaves their long-run variance unchanged."""
_CORRELATIONS = (0.3, 0.5, 0.7, 0.8, 0.86, 0.9, 0.93, 0.95, 0.965, 0.98, 0.99)
_RIDGE = 1e-9
_FAST = (0.0, 0.1, 0.25, 0.45, 0.65, 0.85)


@dataclass(frozen=True)
class Grid:
    """The models: processes of variance 1."""

    correlations: Array
    fast: Array
    """Share of the variance that is white noise."""

    @property
    def long_run_variances(self) -> Array:
        rho = self.correlations
        found: Array = (1.0 - self.fast) * (1.0 + rho) / (1.0 - rho) + self.fast
        return found


_PAIRS = np.array([(rho, fast) for rho in _CORRELATIONS for fast in _FAST] + [(0.0, 0.0)])
GRID = Grid(_PAIRS[:, 0], _PAIRS[:, 1])


@dataclass(frozen=True)
class LikelyInertia:
    """Weights of the models in `GRID`."""

    weights: Array
    """They sum to 1."""
    variances: Array
    """The variance of the series under each model."""

    def long_run_variance(self, share: float) -> float:
        """n times the variance of a mean of n: the quantile at this share of the weights."""
        return quantile(GRID.long_run_variances * self.variances, self.weights, share)


def likely_inertia(values: Array, regressors: Array) -> LikelyInertia | None:
    """The weights for the residuals of the series; None where nothing is left to estimate by.

    `regressors` has one column per fitted term, the mean included.
    """
    n, fitted = regressors.shape
    spread = float(np.std(values))
    if n <= fitted + 2 or spread <= 0.0:
        return None
    whitened, log_scale = _innovations(np.column_stack([values / spread, regressors]))
    products = np.matmul(whitened, whitened.transpose(0, 2, 1))
    along = products[:, 1:, :1]
    # The ridge separates nearly equal columns, such as a step and a steep start.
    design = products[:, 1:, 1:] + _RIDGE * n * np.eye(fitted)
    left = products[:, 0, 0] - np.einsum("gij,gij->g", along, np.linalg.solve(design, along))
    if not np.all(left > 1e-12):
        return None
    likelihood = -0.5 * (log_scale + np.linalg.slogdet(design)[1] + (n - fitted) * np.log(left))
    weights = np.exp(likelihood - likelihood.max())
    return LikelyInertia(weights / weights.sum(), left / (n - fitted) * spread**2)


def in_means(columns: Array) -> Array:
    """Means of neighbours along the first axis, at most `MOST_PLACES` of them."""
    width = -(-len(columns) // MOST_PLACES)
    whole = len(columns) // width * width
    means: Array = columns[:whole].reshape(-1, width, *columns.shape[1:]).mean(axis=1)
    return means


def quantile(values: Array, weights: Array, share: float) -> float:
    """The weighted quantile, interpolated linearly between values."""
    order = np.argsort(values)
    weights = weights[order]
    return float(np.interp(share, np.cumsum(weights) - weights / 2.0, values[order]))


def _innovations(columns: Array) -> tuple[Array, Array]:
    """One-step forecast errors of every column, standardised: `GRID` × columns × places.

    And the sum of the logarithms of the forecasts' variances.
    """
    filters = _forecasts(len(columns))
    # The observations' part of each forecast is computed for all places at once; the part kept from
    # the forecast before is recursive.
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
    """Kalman filter coefficients, places × `GRID`: next forecast = keeps × last + adds × value."""

    keeps: Array
    adds: Array
    precisions: Array
    """1 ÷ the standard deviation of a forecast's error."""
    log_variances: Array
    """Their sums up to each place."""


def _forecasts(n: int) -> _Filters:
    """The coefficients; a shorter series uses the first of a longer one's."""
    kept = _kept_forecasts(max(n, MOST_PLACES))
    return _Filters(kept.keeps[:n], kept.adds[:n], kept.precisions[:n], kept.log_variances[:n])


@lru_cache(maxsize=2)
def _kept_forecasts(n: int) -> _Filters:
    rho, fast = GRID.correlations, GRID.fast
    slow = 1.0 - fast
    variances, gains = np.empty((2, n, len(rho)))  # of the forecast error; the filter's gain
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


_MOST_LAGS = 10
_ROUNDS = 5
_LARGEST_REFLECTION = 0.99


@dataclass(frozen=True)
class Inertia:
    """The autocorrelation of the series' values, summarised."""

    long_run_variance: float
    """n times the variance of a mean of n."""
    autocorrelation: float
    """At lag one."""


def pooled_inertia(series: Sequence[Array]) -> Inertia | None:
    """The estimates; None where the series do not vary."""
    lengths = [len(values) for values in series]
    order = max(1, min(_MOST_LAGS, min(lengths) // 10))
    centred = [values - values.mean() for values in series]
    seen = np.array(
        [
            sum(float(v[: len(v) - lag] @ v[lag:]) for v in centred) / sum(n - lag for n in lengths)
            for lag in range(order + 1)
        ]
    )
    if seen[0] <= 0.0:
        return None
    usual = len(series) / sum(1.0 / n for n in lengths)
    found = seen[0]
    for _ in range(_ROUNDS):
        covariances = seen + found / usual
        found = _long_run(covariances, sum(lengths))
    return Inertia(found, float(covariances[1] / covariances[0]))


def _long_run(covariances: Array, count: int) -> float:
    coefficients = np.zeros(0)
    error = float(covariances[0])
    least, best = count * math.log(error), error
    for lag in range(1, len(covariances)):
        gap = float(covariances[lag] - coefficients @ covariances[lag - 1 : 0 : -1])
        reflection = min(max(gap / error, -_LARGEST_REFLECTION), _LARGEST_REFLECTION)
        coefficients = np.r_[coefficients - reflection * coefficients[::-1], reflection]
        error *= 1.0 - reflection**2
        criterion = count * math.log(error) + 2 * lag
        if criterion < least:
            least, best = criterion, error / (1.0 - float(coefficients.sum())) ** 2
    return best
