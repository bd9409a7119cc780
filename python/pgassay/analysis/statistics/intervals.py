"""Intervals from a few independent units.

Enters: one value per block or trial, or estimates from resampled ones. Leaves: intervals.
Never: gives an interval where the values do not vary.

Sources: Student's t; Hesterberg, "What Teachers Should Know About the Bootstrap" (The American
Statistician 69, 2015), for the widened percentiles that make up for few units; Tukey's jackknife
(Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 11); Fieller, "Some
Problems in Interval Estimation" (Journal of the Royal Statistical Society B 16, 1954).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.values import Estimate, Interval


def mean_with_interval(values: NDArray[np.float64], alpha: float = 0.05) -> Estimate:
    """The mean with Student's t interval; without bounds for one value or equal values."""
    return mean_estimate(values, student(len(values), alpha))


def student(count: int, alpha: float = 0.05) -> float:
    """Returns how many standard errors of a mean of `count` values Student's t interval reaches."""
    return float(special.stdtrit(max(count - 1, 1), 1 - alpha / 2))


def mean_estimate(values: NDArray[np.float64], critical: float) -> Estimate:
    """The mean ± `critical` standard errors; without bounds for one value or equal values."""
    ends = mean_within(values, critical)
    mean = float(np.mean(values))
    return Estimate(mean, None, None) if ends is None else Estimate(mean, *ends)


def mean_within(values: NDArray[np.float64], critical: float) -> Interval | None:
    """The ends alone; None for one value or equal values."""
    error = standard_error(values)
    if error is None or not math.isfinite(critical):
        return None
    mean = float(np.mean(values))
    return mean - critical * error, mean + critical * error


_ROUNDING = 1e-12
"""Logarithms and per cent that differ by less are equal: no clock or count resolves it. Of larger
values it is the share of them."""


def is_rounding(difference: float, largest: float = 1.0) -> bool:
    """Whether a difference is what rounding leaves of equal values, the largest of that size."""
    return abs(difference) <= _ROUNDING * max(1.0, largest)


def never_varies(values: NDArray[np.float64]) -> bool:
    """Whether all that varies is rounding."""
    return is_rounding(float(np.ptp(values)), float(np.max(np.abs(values))))


def standard_error(values: NDArray[np.float64]) -> float | None:
    """Returns the standard error of the mean; None for one value, equal values, or squares that are
    no numbers."""
    if len(values) < 2:
        return None
    with np.errstate(over="ignore"):
        spread = float(np.std(values, ddof=1))
    if not math.isfinite(spread) or never_varies(values):
        return None
    return spread / math.sqrt(len(values))


def paired_t_p(differences: NDArray[np.float64]) -> float | None:
    """Student's two-sided p of a mean of zero; None without spread, or below two values."""
    error = standard_error(differences)
    if error is None:
        return None
    t = abs(float(np.mean(differences))) / error
    return float(2.0 * special.stdtr(len(differences) - 1, -t))


def ratio_of_means(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64], critical: float
) -> tuple[float, float] | None:
    """Fieller's interval of a ratio of two means; None where the denominator may be zero.

    It contains zero if and only if the numerator's own interval with this critical t does.
    """
    n = len(denominators)
    if n < 2 or not math.isfinite(critical):
        return None
    covariance = np.cov(numerators, denominators) / n * critical**2
    top, below = float(numerators.mean()), float(denominators.mean())
    a = below**2 - float(covariance[1, 1])
    b = top * below - float(covariance[0, 1])
    if a <= 0.0 or float(covariance[0, 0]) <= 0.0:
        return None
    root = math.sqrt(max(b**2 - a * (top**2 - float(covariance[0, 0])), 0.0))
    return (b - root) / a, (b + root) / a


def draws(n: int, count: int) -> NDArray[np.int64]:
    """`count` samples of n out of n units, with replacement; the same every time."""
    return np.random.default_rng(0).integers(0, n, (count, n))


def widened_percentiles(
    estimates: NDArray[np.float64], n: int, alpha: float = 0.05
) -> tuple[float, float]:
    """Bootstrap percentiles, widened for n units.

    The bootstrap's spread is too small by √((n − 1)/n) and has normal instead of Student's tails.
    """
    reach = math.sqrt(n / (n - 1)) * float(special.stdtrit(n - 1, 1 - alpha / 2))
    tail = float(special.ndtr(-reach))
    # Infinity is a valid estimate: a knee that is never reached.
    low, high = np.quantile(estimates, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def jackknifed(
    value: float, left_out: NDArray[np.float64], *, ratio: bool, alpha: float = 0.05
) -> Estimate:
    """An estimate with Student's t interval by the jackknife.

    `left_out` are the estimates without each unit. `ratio` treats a positive quantity in
    logarithms; others are cut at zero. Without bounds where an estimate is infinite.
    """
    n = len(left_out)
    if n < 2 or not (np.all(np.isfinite(left_out)) and math.isfinite(value)):
        return Estimate(value, None, None)
    if ratio and (value <= 0.0 or np.any(left_out <= 0.0)):
        return Estimate(value, None, None)
    scaled = np.log(left_out) if ratio else left_out
    # No spread: identical blocks, or a parameter that stays at its bound.
    if float(np.ptp(scaled)) <= 1e-12 * max(1.0 if ratio else 0.0, float(np.max(np.abs(scaled)))):
        return Estimate(value, None, None)
    error = math.sqrt((n - 1) / n * float(((scaled - scaled.mean()) ** 2).sum()))
    reach = float(special.stdtrit(n - 1, 1 - alpha / 2)) * error
    if ratio:
        return Estimate(value, value * math.exp(-reach), value * math.exp(min(reach, 300.0)))
    return Estimate(value, max(value - reach, 0.0), value + reach)
