"""How inert one series is, rather too much than too little.

Enters: what is left of a series after a fit. Leaves: its `Inertia`.
Never: takes the estimate for the truth: short series do not tell 0.9 from 0.95, and movement that
is taken for change costs more than change that is overlooked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ROUNDS = 8
_MOST = 0.99


@dataclass(frozen=True)
class Inertia:
    """Slow movement, a first-order autoregression, under noise without memory."""

    correlation: float
    """Of the slow movement, from one value to the next."""
    slow: float
    fast: float
    """Variances of the two."""

    @property
    def long_run_variance(self) -> float:
        """n times the variance of a mean of n."""
        rho = self.correlation
        return self.slow * (1.0 + rho) / (1.0 - rho) + self.fast

    def covariances(self, n: int) -> Array:
        """At lags 0 to n − 1."""
        lags = np.arange(n, dtype=np.float64)
        found: Array = np.asarray(self.slow * self.correlation**lags, dtype=np.float64)
        found[0] += self.fast
        return found


def inertia_of(left: Array, fitted: int) -> Inertia:
    """A standard error above the estimate, which is freed of its bias first.

    `fitted` numbers were taken from the series; it looks less inert than it is by what they took,
    each as much as a mean takes: that is put back, and the estimate repeated. The correlation is
    the greater of two: that of neighbours, and how it goes on from the first lags to the next ones,
    which fast noise does not touch.
    """
    n = len(left)
    seen = np.array([float(left[: n - lag] @ left[lag:]) / (n - lag) for lag in range(4)])
    if seen[0] <= 0.0:
        return Inertia(0.0, 0.0, 0.0)
    taken = seen[0]
    found = Inertia(0.0, 0.0, seen[0])
    for _ in range(_ROUNDS):
        whole = seen + fitted * taken / n
        first = whole[1] / whole[0]
        if first * math.sqrt(n) <= 2.0:
            return Inertia(0.0, 0.0, float(whole[0]))
        on = (whole[2] + whole[3]) / (whole[1] + whole[2])
        rho = min(max(first, on), _MOST)
        found = _split(whole, rho)
        taken = min(found.long_run_variance, seen[0] * n / 3.0)
    surer = min(found.correlation + math.sqrt((1.0 - found.correlation**2) / n), _MOST)
    return _split(whole, surer)


def _split(covariances: Array, rho: float) -> Inertia:
    slow = min(float(covariances[1]) / rho, float(covariances[0]))
    return Inertia(rho, slow, float(covariances[0]) - slow)
