"""The correlations of several trials, pooled into one with an interval.

Enters: Fisher's z of trials and their weights. Leaves: one z with its error and p. Never: treats
trials that disagree as one.

They are weighted by effective samples less three. Where trials disagree more than chance, the
variance is enlarged (Birge, Physical Review 40, 1932) and Student's t replaces the normal law; with
two or three trials, which cannot show disagreement, always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
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
    """Over trials, the first axis; a weight is a trial's effective samples less three."""
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
