"""Where the mean of a series changed.

Enters: one evenly sampled series. Leaves: the places of changes.
Never: mistakes autocorrelation for a change: the penalty grows with the long-run variance.

PELT (Killick, Fearnhead and Eckley 2012) with the quadratic cost and the penalty 2 · log n ·
(long-run variance). Estimated from the raw series, a change would raise its own penalty and be
missed. So the first search uses medians of differences, which changes of the mean hardly affect
(after Chakar et al., Bernoulli 2017), with a small penalty that finds too many changes. The
long-run variance is then estimated with these changes in the model (inertia.py), and the search
repeated with it. A slow rise at the beginning is in the model too, or the steps that follow it
would raise their own penalty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pgassay.analysis.statistics.inertia import MOST_PLACES, in_means, likely_inertia

Array = NDArray[np.float64]
SHORTEST_PIECE = 5
_MEDIAN_OF_SQUARE = 0.4549364
"""The median of a squared standard normal number."""
_LONGEST_LAG = 20
_MOST_PLACES = 7200
"""Longer series are averaged first; two hours by the second."""
_ROUNDS = 3
_MOST_STEPS = 100
"""More changes than this leave too little to estimate the variance by."""
_WIDE_NET = 0.25
"""Share of the penalty that the first search uses."""
_SURE = 0.75
"""Quantile of the long-run variance that the penalty uses; chosen by simulation
(docs/measured/validation-steadiness.md)."""
_BEGINNINGS = (0.02, 0.06, 0.2)
"""Time constants of a cold start, as shares of the series."""
_FAR = 3.5
"""Robust standard deviations beyond which a value is a spike."""
_CORRELATIONS = np.array(
    [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.87, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98]
)


def change_points(values: Array) -> list[int]:
    """The places at which a new mean begins, in order.

    PELT's time grows with the square of the length, so a series of hours is averaged first.
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
    values = without_spikes(values)
    whole = 2.0 * math.log(n) * long_run_variance(values)
    penalty = _WIDE_NET * whole
    centred = (values - values.mean())[:, None]
    found = best_pieces(centred, max(penalty, 1e-12), SHORTEST_PIECE)
    for _ in range(_ROUNDS):
        between = _between(values, found[:-1])
        surer = whole if between is None else 2.0 * math.log(n) * between
        if len(found) < 2 or surer <= penalty:
            break
        penalty = surer
        found = best_pieces(centred, penalty, SHORTEST_PIECE)
    return found[:-1]


def best_pieces(values: Array, penalty: float, shortest: int) -> list[int]:
    """The ends of the pieces, none shorter, that a column of values is best divided into where each
    change costs the penalty (PELT with the quadratic cost of the mean)."""
    kernel = _kernel()
    if kernel is None:
        import ruptures  # the same C code, after a second of imports

        search = ruptures.KernelCPD(kernel="linear", min_size=shortest).fit(values)
        return list(search.predict(pen=penalty))
    begins = kernel(values, penalty, shortest)
    found, end = [], len(values)
    while end > 0:
        found.append(end)
        end = int(begins[end])
    return found[::-1]


@cache
def _kernel() -> Callable[[Array, float, int], Sequence[int]] | None:
    """PELT with the quadratic cost of the mean: where the last piece up to each place begins.

    This is the C code of `ruptures.KernelCPD`, without the package, whose other methods load half
    of scipy, which takes half a second. None where a release has it at another place.
    """
    package = find_spec("ruptures")
    places = () if package is None else package.submodule_search_locations or ()
    found = PathFinder.find_spec("ekcpd", [f"{one}/detection/_detection" for one in places])
    if found is None or found.loader is None:
        return None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return getattr(module, "ekcpd_pelt_L2", None)


def _between(values: Array, places: list[int]) -> float | None:
    """The long-run variance of a series that changes at these places; None with too many."""
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
    """Clips values far from their neighbours' median, so that a single stall is no new level."""
    padded = np.pad(values, SHORTEST_PIECE - 1, mode="edge")
    local = np.median(sliding_window_view(padded, 2 * SHORTEST_PIECE - 1), axis=1)
    away = values - local
    reach = _FAR * float(np.median(np.abs(away))) / math.sqrt(_MEDIAN_OF_SQUARE)
    clipped: Array = local + np.clip(away, -reach, reach)
    return clipped


def long_run_variance(values: Array) -> float:
    """n times the variance of a mean of n, hardly affected by changes of the mean.

    Half the median squared difference over k places is fitted by s² (1 − ρᵏ) + w², an
    autoregression plus white noise, whose long-run variance is s² (1 + ρ)/(1 − ρ) + w².
    """
    n = len(values)
    lags = np.arange(1, max(3, min(_LONGEST_LAG, n // 6)) + 1)
    squares = [(values[lag:] - values[:-lag]) ** 2 for lag in lags]
    halves = np.array([np.median(square) for square in squares]) / (2.0 * _MEDIAN_OF_SQUARE)
    if halves[0] <= 0.0:
        return float(np.var(values))
    # Medians ignore heavy tails; the mean square of neighbours' differences restores them.
    halves *= max(1.0, float(np.mean(squares[0])) / (2.0 * halves[0]))
    fits = []
    for correlation in _CORRELATIONS:
        misfit, slow, fast = two_parts(1.0 - correlation**lags, halves, 1.0 / lags)
        fits.append((misfit, slow * (1.0 + correlation) / (1.0 - correlation) + fast))
    return float(min(fits)[1])


def two_parts(shape: Array, values: Array, weights: Array) -> tuple[float, float, float]:
    """Least squares of values on a × shape + b, neither of them negative: (misfit, a, b).

    In closed form: `scipy.optimize.nnls` does the same, after a third of a second of imports.
    """
    mean, middle = np.average(shape, weights=weights), np.average(values, weights=weights)
    spread = float(weights @ (shape - mean) ** 2)
    slope = float(weights @ ((shape - mean) * (values - middle))) / spread if spread else 0.0
    both = slope, float(middle - slope * mean)
    alone = float(weights @ (shape * values)) / float(weights @ shape**2)
    # The best point lies inside the quadrant, or on the better one of its two edges.
    tried = [both] if min(both) >= 0.0 else [(max(alone, 0.0), 0.0), (0.0, max(middle, 0.0))]
    misfits = [(float(weights @ (a * shape + b - values) ** 2), a, b) for a, b in tried]
    return min(misfits)
