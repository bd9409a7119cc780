"""Removes cycles and autocorrelation, which make unrelated series look correlated.

Enters: series on one clock, as rows. Leaves: residuals to correlate. Never: compares two series.

Sources: Box and Jenkins (autoregressive prewhitening); Haugh 1976 (both series by their own
model); Levinson and Durbin's recursion; Akaike's criterion for the order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST_LAGS = 10
FEWEST_CYCLES = 2


def cycle_phase(at_s: Array, checkpoints_s: Array) -> NDArray[np.int64] | None:
    """The phase bin of each moment in its checkpoint cycle, by seconds since the last start.

    None below two whole cycles, whose mean course would be the series itself. Moments before the
    first start count back from it by the median cycle.
    """
    if len(checkpoints_s) < FEWEST_CYCLES + 1:
        return None
    cycle_s = float(np.median(np.diff(checkpoints_s)))
    if cycle_s <= 0.0:
        return None
    last = np.searchsorted(checkpoints_s, at_s, side="right") - 1
    since = at_s - checkpoints_s[np.maximum(last, 0)]
    since = np.where(last < 0, np.mod(since, cycle_s), since)
    # Bins as fine as the moments, or the slope of a dip inside a bin stays in every series.
    per_cycle = len(at_s) * cycle_s / max(float(at_s[-1] - at_s[0]), cycle_s)
    bins = max(2, min(round(per_cycle), len(at_s) // (FEWEST_CYCLES + 1)))
    place = np.floor(since / cycle_s * bins).astype(np.int64)
    return np.minimum(place, bins - 1)


def without_means(rows: Array, groups: NDArray[np.int64]) -> Array:
    """Rows less the mean of each group of places, small groups included."""
    codes = np.unique(groups, return_inverse=True)[1]
    counts = np.bincount(codes)
    found = np.empty_like(rows, dtype=np.float64)
    for row, left in zip(rows, found, strict=True):
        left[:] = row - (np.bincount(codes, row) / counts)[codes]
    return found


def without_cycle(values: Array, at_s: Array, phase: NDArray[np.int64]) -> Array:
    """Removes from one series its mean course over a cycle; its mean and linear trend stay.

    The line is fitted together with the course: the means of two cycles alone would remove half of
    a drift and leave the rest as a step from one cycle to the next.
    """
    rows = without_means(np.vstack([values, at_s]), phase)
    slope = float(rows[0] @ rows[1]) / max(float(rows[1] @ rows[1]), 1e-300)
    kept: Array = rows[0] + slope * (at_s - rows[1] - at_s.mean()) + values.mean()
    return kept


def whitened(rows: Array, most_lags: int = MOST_LAGS) -> Array:
    """Residuals of each row's own autoregression; the first places, which lack a past, are cut."""
    n = rows.shape[1]
    order = max(1, min(most_lags, n // 10))
    coefficients = _autoregressions(rows, order)
    residuals = rows[:, order:].copy()
    for lag in range(1, order + 1):
        if coefficients[:, lag - 1].any():  # most orders are lower
            residuals -= coefficients[:, lag - 1 : lag] * rows[:, order - lag : n - lag]
    return residuals


def autocorrelations(rows: Array, most_lags: int) -> Array:
    """Autocorrelations, rows × lags 0 to `most_lags`."""
    n = rows.shape[1]
    centred = rows - rows.mean(axis=1, keepdims=True)
    # Not `@`, whose threads cost more than they save here.
    products = [
        np.einsum("ij,ij->i", centred[:, : n - k], centred[:, k:]) for k in range(most_lags + 1)
    ]
    found = np.stack(products, axis=1)
    powers = found[:, :1]
    shares: Array = np.divide(found, powers, out=np.zeros_like(found), where=powers > 0.0)
    return shares


def _autoregressions(rows: Array, order: int) -> Array:
    """Coefficients by Levinson and Durbin, each row's order by Akaike's criterion, padded by 0."""
    count, n = rows.shape
    r = autocorrelations(rows, order)
    best = np.zeros((count, order))
    current = np.zeros((count, order))
    error = np.ones(count)
    criterion = np.zeros(count)
    for k in range(1, order + 1):
        past = current[:, : k - 1]
        gap = r[:, k] - np.einsum("ij,ij->i", past, r[:, k - 1 : 0 : -1])
        reflection = np.clip(gap / np.maximum(error, 1e-12), -0.9999, 0.9999)
        current[:, : k - 1] = past - reflection[:, None] * past[:, ::-1]
        current[:, k - 1] = reflection
        error = error * (1.0 - reflection**2)
        found = n * np.log(np.maximum(error, 1e-12)) + 2.0 * k
        better = found < criterion
        criterion = np.where(better, found, criterion)
        best[better] = current[better]
    return best
