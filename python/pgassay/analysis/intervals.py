"""Intervals from a few independent units.

Enters: one value per block or trial, or estimates from resampled ones. Leaves: intervals.
Never: gives one where there is no spread to know.

Sources: Student's t; Hesterberg, "What Teachers Should Know About the Bootstrap" (The American
Statistician 69, 2015), for the widened percentiles that make up for few units.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pgassay.analysis.curves_model import Estimate

RESAMPLES = 2000


def mean_with_interval(values: NDArray[np.float64], alpha: float = 0.05) -> Estimate:
    """Their mean and Student's t interval; without bounds where it cannot be known."""
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Estimate(mean, None, None)
    spread = float(np.std(values, ddof=1))
    if spread <= 1e-12 * float(np.max(np.abs(values))):
        return Estimate(mean, None, None)
    reach = float(special.stdtrit(n - 1, 1 - alpha / 2)) * spread / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach)


def draws(n: int, count: int = RESAMPLES) -> NDArray[np.int64]:
    """`count` samples of n out of n units, with replacement; the same every time."""
    return np.random.default_rng(0).integers(0, n, (count, n))


def widened_percentiles(
    estimates: NDArray[np.float64], n: int, alpha: float = 0.05
) -> tuple[float, float]:
    """Percentiles of resampled estimates, as far out as n units make necessary.

    The bootstrap's spread is too small by √((n − 1)/n), and normal where it should be Student's.
    """
    reach = math.sqrt(n / (n - 1)) * float(special.stdtrit(n - 1, 1 - alpha / 2))
    tail = float(special.ndtr(-reach))
    # Infinities are estimates too: a knee that is never reached.
    low, high = np.quantile(estimates, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)
