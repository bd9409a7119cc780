"""Bands over several differences at once, from one row per block.

Enters: block differences, blocks × places. Leaves: a band that holds at all places together.
Never: treats places as independent, or a place that does not vary as known.

The greatest |t| over all places is simulated for normal rows with the correlation seen (Westfall
and Young 1993; Hothorn, Bretz and Westfall 2008). The correlation of few rows is overconfident, so
it is drawn towards none. A sign-flip of the rows has nothing to say below six blocks and is too
narrow with few (docs/methods.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

FEWEST_BLOCKS = 3
_DRAWS = 8_000
_CELLS = 4_000_000
"""Normal numbers drawn at a time, at most."""


@dataclass(frozen=True)
class Band:
    """Mean, and bounds; the bounds are NaN where a place does not vary."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    critical: float
    """How many standard errors the band reaches out."""


def max_t_band(rows: NDArray[np.float64], alpha: float = 0.05) -> Band | None:
    """The band, or None below three blocks or where nothing varies."""
    blocks, places = rows.shape
    if blocks < FEWEST_BLOCKS or places == 0:
        return None
    mean = rows.mean(axis=0)
    spread = rows.std(axis=0, ddof=1)
    varies = spread > 1e-12 * np.abs(rows).max(axis=0)
    if not varies.any():
        return None
    critical = _critical(rows[:, varies], alpha)
    reach = np.where(varies, critical * spread / math.sqrt(blocks), np.nan)
    return Band(mean, mean - reach, mean + reach, critical)


def _critical(rows: NDArray[np.float64], alpha: float) -> float:
    blocks, places = rows.shape
    if places == 1:
        return float(special.stdtrit(blocks - 1, 1 - alpha / 2))
    return float(np.quantile(_greatest_t(_correlation(rows), blocks), 1 - alpha))


def _correlation(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    blocks, places = rows.shape
    seen = np.corrcoef(rows, rowvar=False)
    towards_none = 1.0 / blocks
    shrunk: NDArray[np.float64] = (1.0 - towards_none) * seen + towards_none * np.eye(places)
    return shrunk


def _greatest_t(correlation: NDArray[np.float64], blocks: int) -> NDArray[np.float64]:
    """max |t| over places, for normal rows of this correlation.

    Mean and spread of normal rows are independent: the mean is drawn as such, the squares about it
    as a sum over blocks − 1 further rows.
    """
    source = np.random.default_rng(0)
    root = np.linalg.cholesky(correlation)
    places = len(correlation)
    found: list[NDArray[np.float64]] = []
    at_once = max(1, _CELLS // (blocks * places))
    for begin in range(0, _DRAWS, at_once):
        count = min(at_once, _DRAWS - begin)
        normal = source.standard_normal((count * blocks, places)) @ root.T
        drawn = normal.reshape(count, blocks, places)
        spread = np.sqrt(np.mean(drawn[:, 1:] ** 2, axis=1))
        found.append(np.abs(drawn[:, 0] / spread).max(axis=1))
    return np.concatenate(found)
