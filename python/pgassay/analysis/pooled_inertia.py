"""How inert the course of a trial is, learned from many trials together.

Enters: series of one kind, each of its own mean. Leaves: their long-run variance.
Never: takes a difference between two series for movement inside one.

An autoregression by Levinson and Durbin on the autocovariances of all series together, its order by
Akaike's criterion; its long-run variance is σ² ÷ (1 − Σφ)² (Priestley 1981). A series less its own
mean looks less inert than it is; the variance of that mean is put back and the fit repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST_LAGS = 10
_ROUNDS = 5
_LARGEST_REFLECTION = 0.99


@dataclass(frozen=True)
class Inertia:
    """Of the series' values."""

    long_run_variance: float
    """n times the variance of a mean of n."""
    autocorrelation: float
    """Of neighbours."""


def pooled_inertia(series: Sequence[Array]) -> Inertia | None:
    """None where the series do not vary."""
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
