"""Correlations of autocorrelated series within one trial, and of several trials pooled into one.

Enters: series on one clock, as rows; Fisher's z of trials and their weights. Leaves: correlations
with their effective samples (Bartlett 1935); one z with its error and p. Never: treats neighbouring
intervals as independent, or trials that disagree as one.

Trials are weighted by effective samples less three. Where they disagree more than chance, the
variance is enlarged (Birge, Physical Review 40, 1932) and Student's t replaces the normal law; with
two or three trials, which cannot show disagreement, always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.prewhitening import (
    MOST_LAGS,
    autocorrelations,
    whitened,
    without_means,
)

Array = NDArray[np.float64]
_NEARLY_ONE = 0.9999


def residuals(rows: Array, groups: NDArray[np.int64]) -> tuple[Array, NDArray[np.bool_]]:
    """Prewhitened rows of unit length, and which of them are more than rounding errors.

    The means of `groups` of places, such as phases of a cycle, are removed first.
    """
    found = whitened(without_means(rows, groups))
    # A series that the cycle explains entirely leaves only rounding errors.
    varies = found.std(axis=1) > 1e-9 * np.abs(rows).max(axis=1)
    found -= found.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(found, axis=1, keepdims=True)
    found /= np.where(norms > 0.0, norms, 1.0)
    return found, varies


def inertia_of(rows: Array) -> Array:
    """The autocorrelations that decide how many effective samples there are."""
    return autocorrelations(rows, MOST_LAGS)[:, 1:]


def at_lags(
    own: Array, own_inertia: Array, others: Array, lags: int, lost: int
) -> tuple[Array, Array]:
    """Correlations of one unit series with each of the others, and their effective samples.

    Lag k > 0 pairs a series with the value of `own` k intervals later.
    """
    n = len(own)
    values = np.stack(
        [
            others[:, : n - k] @ own[k:] if k >= 0 else others[:, -k:] @ own[:k]
            for k in range(-lags, lags + 1)
        ],
        axis=1,
    )
    inflation = np.maximum(1.0 + 2.0 * inertia_of(others) @ own_inertia, 1.0)
    left = n - lost - np.abs(np.arange(-lags, lags + 1))
    return values, np.maximum(left[None, :] / inflation[:, None], 0.0)


def among(rows: Array, lost: int) -> tuple[Array, Array]:
    """Correlations of every unit series with every other at the same time, and their samples."""
    inertia = inertia_of(rows)
    inflation = np.maximum(1.0 + 2.0 * inertia @ inertia.T, 1.0)
    return rows @ rows.T, np.maximum((rows.shape[1] - lost) / inflation, 0.0)


def fisher_z(values: Array) -> Array:
    """Fisher's z, also of ±1."""
    found: Array = np.arctanh(np.clip(values, -_NEARLY_ONE, _NEARLY_ONE))
    return found


_CAN_DISAGREE = 4
"""With fewer trials that happen to agree, normal intervals held in only 87 to 93 %."""


@dataclass(frozen=True)
class Pooled:
    """Arrays of one shape: Fisher's z over trials, its error, and p."""

    z: Array
    error: Array
    freedom: Array
    """Of Student's t; infinite for the normal law."""
    p: Array
    known: NDArray[np.bool_]
    """Whether any trial has effective samples; elsewhere nothing is to be read."""

    def reach(self, alpha: float = 0.05) -> Array:
        """Half of the interval of z."""
        critical: Array = special.stdtrit(self.freedom, 1.0 - alpha / 2.0)
        return critical * self.error


def pooled(z: Array, weights: Array) -> Pooled:
    """Pools over trials, the first axis; a weight is a trial's effective samples less three."""
    total = weights.sum(axis=0)
    known = total > 0.0
    mean = np.divide((weights * z).sum(axis=0), total, out=np.zeros_like(total), where=known)
    trials = (weights > 0.0).sum(axis=0)
    freedom = np.maximum(trials - 1, 1)
    seen = (weights * (z - mean) ** 2).sum(axis=0) / freedom
    disagreement = np.maximum(seen, 1.0)
    error = np.sqrt(np.divide(disagreement, total, out=np.full_like(total, np.inf), where=known))
    by_trials = (trials > 1) & ((seen > 1.0) | (trials < _CAN_DISAGREE))
    degrees = np.where(by_trials, freedom, np.inf)
    p = 2.0 * special.stdtr(degrees, -np.abs(mean) / error)
    return Pooled(mean, error, degrees, p, known)
