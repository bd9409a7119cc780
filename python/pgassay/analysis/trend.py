"""How fast a series drifts, whatever its stalls and its inertia.

Enters: one evenly sampled series. Leaves: a slope over the whole of it, with an interval.
Never: takes neighbours as independent: residuals are resampled in blocks.

Sources: Theil 1950 and Sen 1968 (median of the slopes of all pairs); Künsch 1989 (moving blocks);
Carlstein 1986 (their length); Hesterberg 2015 (percentiles as wide as so many blocks need).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.intervals import widened_percentiles
from pgassay.analysis.prewhitening import autocorrelations

Array = NDArray[np.float64]
FEWEST = 20
_BINS = 40
_RESAMPLES = 400
_FEWEST_BLOCKS = 5


@dataclass(frozen=True)
class Drift:
    """Change from the beginning to the end, in the series' unit."""

    total: float
    low: float
    high: float


def drift(values: Array) -> Drift | None:
    """None for a short series or one that does not vary."""
    if len(values) < FEWEST or np.ptp(values) <= 1e-12 * float(np.max(np.abs(values))):
        return None
    binned = _binned(values)
    n = len(binned)
    slope = float(_slopes(binned[None, :])[0])
    residuals = binned - slope * np.arange(n)
    residuals = residuals - residuals.mean()
    length = _block_length(residuals)
    # A fitted line takes with it what two blocks could have varied.
    residuals /= math.sqrt(1.0 - 2.0 * length / n)
    blocks = math.ceil(n / length)
    source = np.random.default_rng(0)
    begins = source.integers(0, n - length + 1, (_RESAMPLES, blocks))
    places = (begins[:, :, None] + np.arange(length)).reshape(_RESAMPLES, -1)[:, :n]
    resampled = _slopes(residuals[places])
    low, high = widened_percentiles(resampled, blocks)
    return Drift(slope * n, (slope - high) * n, (slope - low) * n)


def _binned(values: Array) -> Array:
    """Means of neighbours, at most forty: the pairs of more would take long and add nothing."""
    size = math.ceil(len(values) / _BINS)
    whole = len(values) // size
    means: Array = values[: whole * size].reshape(whole, size).mean(axis=1)
    return means


def _slopes(rows: Array) -> Array:
    """Theil and Sen's slope of each row."""
    n = rows.shape[1]
    early, late = np.triu_indices(n, 1)
    found: Array = np.median((rows[:, late] - rows[:, early]) / (late - early), axis=1)
    return found


def _block_length(residuals: Array) -> int:
    """Carlstein's rule for a first-order autoregression."""
    n = len(residuals)
    seen = float(autocorrelations(residuals[None, :], 1)[0, 1])
    # Short series look less inert than they are (Marriott and Pope 1954; twice, for the slope).
    correlation = min(max(seen + 2.0 * (1.0 + 3.0 * max(seen, 0.0)) / n, 0.0), 0.95)
    wanted = (math.sqrt(6.0) * correlation / (1.0 - correlation**2)) ** (2.0 / 3.0) * n ** (1 / 3)
    # Half as long again: Carlstein's aims at the variance, an interval needs more of the inertia.
    return int(np.clip(math.ceil(1.5 * wanted), 2, n // _FEWEST_BLOCKS))
