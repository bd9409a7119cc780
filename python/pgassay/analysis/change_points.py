"""Where the mean of a series changed.

Enters: one evenly sampled series. Leaves: places of changes.
Never: takes inertia for change: the penalty grows with the series' long-run variance.

PELT (Killick, Fearnhead and Eckley 2012) with the quadratic cost and the penalty
2 · log n · (long-run variance). Estimated from the series as it is, a change would raise its own
penalty until it is missed. So a first look takes it from medians of differences, which changes of
the mean hardly touch (after Chakar et al., Bernoulli 2017), and is asked for too many changes
rather than too few. What it finds is held against how inert the series may be with these changes
in it (inertia.py): what that explains as well is no change. A beginning that comes up slowly is no
inertia either: without it in the model the steps that follow it would raise their own penalty.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.inertia import MOST_PLACES, in_means, likely_inertia

Array = NDArray[np.float64]
SHORTEST_PIECE = 5
_MEDIAN_OF_SQUARE = 0.4549364
"""Of a standard normal number's square."""
_LONGEST_LAG = 20
_MOST_PLACES = 7200
"""Two hours by the second."""
_ROUNDS = 3
_MOST_STEPS = 100
"""Whose columns are still small."""
_WIDE_NET = 0.25
"""Share of the penalty with which changes are looked for that are then held against it."""
_SURE = 0.75
"""Weight of the inertia that the penalty is not exceeded with; by simulation
(docs/validation-steadiness.md)."""
_BEGINNINGS = (0.02, 0.06, 0.2)
"""Parts of the series in which what is left of a cold beginning falls to 1/e."""
_FAR = 3.5
"""Robust standard deviations beyond which a value is a spike."""
_CORRELATIONS = np.array(
    [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.87, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98]
)


def change_points(values: Array) -> list[int]:
    """Places at which a new mean begins, in order.

    The time that PELT's kernel takes grows with the square of the length: a series of hours is
    looked at in means of several intervals.
    """
    width = -(-len(values) // _MOST_PLACES)
    if width > 1:
        whole = len(values) // width * width
        return [width * at for at in _change_points(values[:whole].reshape(-1, width).mean(axis=1))]
    return _change_points(values)


def _change_points(values: Array) -> list[int]:
    n = len(values)
    spread = float(np.std(values))
    if n < 4 * SHORTEST_PIECE or spread <= 1e-12 * float(np.max(np.abs(values))):
        return []
    import ruptures  # a second to load, which most commands can do without

    values = without_spikes(values)
    whole = 2.0 * math.log(n) * long_run_variance(values)
    penalty = _WIDE_NET * whole
    # "linear" is the quadratic cost of the mean, in C.
    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST_PIECE)
    search.fit(values - values.mean())
    found: list[int] = search.predict(pen=max(penalty, 1e-12))
    for _ in range(_ROUNDS):
        between = _between(values, found[:-1])
        surer = whole if between is None else 2.0 * math.log(n) * between
        if len(found) < 2 or surer <= penalty:
            break
        penalty = surer
        found = search.predict(pen=penalty)
    return found[:-1]


def _between(values: Array, places: list[int]) -> float | None:
    """The long-run variance that a series may have which changes at these places; None where they
    are so many that they leave nothing to tell it by."""
    left = min(len(values), MOST_PLACES // 2)
    if len(places) > min(_MOST_STEPS, left // 2):
        return None
    at = np.arange(len(values))
    steps = [at >= place for place in places]
    beginnings = [np.exp(-(at + 0.5) / (part * len(values))) for part in _BEGINNINGS]
    columns = np.column_stack([values, np.ones(len(values)), *steps, *beginnings])
    means = in_means(columns.astype(np.float64))
    found = likely_inertia(means[:, 0] - means[:, 0].mean(), means[:, 1:])
    width = len(values) / len(means)
    return 0.0 if found is None else width * found.long_run_variance(_SURE)


def without_spikes(values: Array) -> Array:
    """A single stall is no new level: values far off their neighbours' median are brought near."""
    from scipy import ndimage  # time to load, which most commands can do without

    local = ndimage.median_filter(values, size=2 * SHORTEST_PIECE - 1, mode="nearest")
    away = values - local
    reach = _FAR * float(np.median(np.abs(away))) / math.sqrt(_MEDIAN_OF_SQUARE)
    clipped: Array = local + np.clip(away, -reach, reach)
    return clipped


def long_run_variance(values: Array) -> float:
    """n times the variance of a mean of n, hardly touched by changes of the mean.

    Half the median square of differences over k places is fitted by s² (1 − ρᵏ) + w²: slow movement
    and fast noise over it. The long-run variance of that is s² (1 + ρ)/(1 − ρ) + w².
    """
    from scipy import optimize  # a third of a second to load, which most commands can do without

    n = len(values)
    lags = np.arange(1, max(3, min(_LONGEST_LAG, n // 6)) + 1)
    squares = [(values[lag:] - values[:-lag]) ** 2 for lag in lags]
    halves = np.array([np.median(square) for square in squares]) / (2.0 * _MEDIAN_OF_SQUARE)
    if halves[0] <= 0.0:
        return float(np.var(values))
    # Medians see little of heavy tails; the differences of neighbours tell how much.
    halves *= max(1.0, float(np.mean(squares[0])) / (2.0 * halves[0]))
    weights = 1.0 / np.sqrt(lags)
    fits = []
    for correlation in _CORRELATIONS:
        design = np.column_stack([1.0 - correlation**lags, np.ones(len(lags))])
        (slow, fast), misfit = optimize.nnls(design * weights[:, None], halves * weights)
        fits.append((misfit, slow * (1.0 + correlation) / (1.0 - correlation) + fast))
    return float(min(fits)[1])
