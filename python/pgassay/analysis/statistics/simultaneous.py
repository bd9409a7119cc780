"""Simultaneous bands: intervals that hold at all places of a curve together.

Enters: block differences, blocks × places. Leaves: a band over the places.
Never: treats places as independent, or a place that does not vary as known exactly.

Curves shown together, such as one per level, share the 5 % (Bonferroni), so at most one report in
twenty has a false difference anywhere in them.

The critical value is a quantile of the greatest |t| over all places, simulated for normal rows with
the observed correlation (Westfall and Young 1993; Hothorn, Bretz and Westfall 2008). Few rows
overstate correlation, so it is shrunk towards none. A sign-flip band cannot exist below six blocks
and is too narrow with few (docs/methods/diagnosis.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.intervals import never_varies
from pgassay.analysis.statistics.values import USELESS_PCT, ratio_pct
from pgassay.notes import Note

FEWEST_BLOCKS = 3
_DRAWS = 8_000
_KEPT_CELLS = 4_000_000
"""Most random numbers that are kept for the next band."""
_CELLS_AT_ONCE = 1_000_000
"""Of random numbers that are not kept."""


@dataclass(frozen=True)
class Band:
    """Mean, and bounds; the bounds are NaN where a place does not vary."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    critical: float
    """Half-width of the band in standard errors."""


@dataclass(frozen=True)
class RatioCurve:
    """Differences of logarithms over places, in per cent."""

    shift_pct: tuple[float, ...]
    band95_pct: tuple[tuple[float, float] | None, ...]
    band: Band | None
    refused: Note | None
    """Why there is no band."""


def ratio_curve(rows: NDArray[np.float64], *, shared_by: int) -> RatioCurve:
    """The curve of block differences (blocks × places); `shared_by` curves share the 5 %."""
    band = max_t_band(rows, 0.05 / shared_by)
    refused = None
    if len(rows) < FEWEST_BLOCKS:
        counts = {"fewest": FEWEST_BLOCKS, "number": len(rows)}
        refused = Note("analysis/statistics/few-blocks", counts)
    elif band is None:
        refused = Note("analysis/statistics/constant")
    return RatioCurve(
        shift_pct=tuple(ratio_pct(float(value)) for value in rows.mean(axis=0)),
        band95_pct=(None,) * rows.shape[1]
        if band is None
        else tuple(_percent_bounds(*pair) for pair in zip(band.low, band.high, strict=True)),
        band=band,
        refused=refused,
    )


def max_t_band(rows: NDArray[np.float64], alpha: float = 0.05) -> Band | None:
    """The band, or None below three blocks or where nothing varies."""
    blocks, places = rows.shape
    if blocks < FEWEST_BLOCKS or places == 0:
        return None
    mean = rows.mean(axis=0)
    spread = rows.std(axis=0, ddof=1)
    varies = np.array([not never_varies(column) for column in rows.T])
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
    """Simulated max |t| over places, for normal rows with this correlation.

    Mean and variance of normal rows are independent: one row is drawn for the mean, blocks − 1
    further rows for the sum of squares.
    """
    root = np.linalg.cholesky(correlation)
    places = len(correlation)
    found: list[NDArray[np.float64]] = []
    for independent in _normal(blocks, places):
        drawn = (independent @ root.T).reshape(-1, blocks, places)
        about = drawn[:, 1:]
        squares = np.einsum("dbp,dbp->dp", about, about)
        found.append(np.sqrt((blocks - 1) * (drawn[:, 0] ** 2 / squares).max(axis=1)))
    return np.concatenate(found)


def _normal(blocks: int, places: int) -> Iterable[NDArray[np.float64]]:
    """The same random numbers for every band; cached where they are few."""
    if _DRAWS * blocks * places <= _KEPT_CELLS:
        return _kept_normal(blocks, places)
    return _one_ahead(_drawn_normal(blocks, places))


@lru_cache(maxsize=2)
def _kept_normal(blocks: int, places: int) -> tuple[NDArray[np.float64], ...]:
    return tuple(_drawn_normal(blocks, places))


def _drawn_normal(blocks: int, places: int) -> Iterator[NDArray[np.float64]]:
    source = np.random.default_rng(0)
    at_once = max(1, _CELLS_AT_ONCE // (blocks * places))
    for begin in range(0, _DRAWS, at_once):
        count = min(at_once, _DRAWS - begin)
        yield source.standard_normal((count * blocks, places))


def _one_ahead(drawn: Iterator[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
    """The same; the next are drawn while some are in use."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, drawn, None)
        while (numbers := following.result()) is not None:
            following = thread.submit(next, drawn, None)
            yield numbers


def _percent_bounds(low: float, high: float) -> tuple[float, float] | None:
    """Bounds on logarithms in per cent; None where missing or too wide to be of use."""
    if not (math.isfinite(low) and math.isfinite(high)) or ratio_pct(float(high)) > USELESS_PCT:
        return None
    return ratio_pct(float(low)), ratio_pct(float(high))
