"""Mean and standard error of the rounds of a switchback.

Enters: one difference per round, and its block. Leaves: their mean, its standard error and degrees
of freedom. Never: assumes that rounds are independent where the data show that they are not.

Where arms do not differ, the order drawn in each round makes differences independent, whatever the
host does (Bojinov, Simchi-Levi and Zhao 2023). Where they do, the effect may vary in time (lag-one
autocorrelation) and between trials (their spread); both enlarge the error. Degrees of freedom by
Satterthwaite (Biometrics Bulletin 2, 1946). docs/methods/verdicts.md, "Switchback".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.statistics.intervals import is_rounding

Array = NDArray[np.float64]

FEWEST_TRIALS = 3
"""Fewest trials whose spread is used as an estimate of the error."""
FEWEST_ROUNDS = 4
"""Fewest rounds of a trial whose spread is used."""
_MOST_CORRELATED = 0.9


@dataclass(frozen=True)
class Spread:
    """A mean and its uncertainty."""

    mean: float
    error: float | None
    """None where it cannot be estimated."""
    units: float
    """The number of independent values it is worth: degrees of freedom plus one."""
    inside: float | None = None
    """The standard error that rounds inside trials explain."""


def by_block(differences: Array, trials: NDArray[np.int64] | None) -> Array:
    """Averages each block's rounds; returns the differences themselves where they are of blocks."""
    if trials is None:
        return differences
    order = np.argsort(trials, kind="stable")
    return Groups.of(trials[order]).means(differences[order])


def spread_of_rounds(differences: Array, trials: NDArray[np.int64]) -> Spread:
    """Averages the means of trials' rounds, trials with equal weight."""
    order = np.argsort(trials, kind="stable")
    differences, groups = differences[order], Groups.of(trials[order])
    means = groups.means(differences)
    mean, count = float(means.mean()), len(means)
    if int(groups.sizes.min()) < FEWEST_ROUNDS:
        return Spread(mean, None, float(count))
    left = groups.less_means(differences)
    inflation = _inflation(left, groups)
    own = groups.sums(left**2) / (groups.sizes - 1) * inflation / groups.sizes / count**2
    within = float(own.sum())
    if is_rounding(math.sqrt(within), float(np.max(np.abs(differences)))):
        return Spread(mean, None, float(count))
    freedom = np.maximum(1.0, groups.sizes / inflation - 1.0)
    inside = within**2 / float(np.sum(own**2 / freedom))
    between = float(np.var(means, ddof=1)) / count if count >= FEWEST_TRIALS else 0.0
    if between <= within:
        return Spread(mean, math.sqrt(within), inside + 1.0, math.sqrt(within))
    # The larger the share of differences between the few trials, the fewer degrees of freedom.
    # Satterthwaite's would fall too slowly where both variances are estimates.
    freedom_between = count - 1.0
    units = freedom_between + max(0.0, inside - freedom_between) * (within / between) ** 4
    return Spread(mean, math.sqrt(between), units + 1.0, math.sqrt(within))


@dataclass(frozen=True)
class Groups:
    """Where each trial's rounds begin, and how many it has."""

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, trials: NDArray[np.int64]) -> Groups:
        """Groups rounds by their trial; `trials` has the trial of each round, sorted."""
        starts = np.concatenate([[0], np.flatnonzero(trials[1:] != trials[:-1]) + 1])
        return cls(starts, np.diff(starts, append=len(trials)))

    def sums(self, values: Array) -> Array:
        """Sums each group along the last axis."""
        found: Array = np.add.reduceat(values, self.starts, axis=-1)
        return found

    def means(self, values: Array) -> Array:
        return self.sums(values) / self.sizes

    def less_means(self, values: Array) -> Array:
        return values - np.repeat(self.means(values), self.sizes)

    def vary(self, values: Array) -> NDArray[np.bool_]:
        """Returns which trials have values that differ."""
        found: NDArray[np.bool_] = np.maximum.reduceat(values, self.starts) > np.minimum.reduceat(
            values, self.starts
        )
        return found


def _inflation(left: Array, groups: Groups) -> float:
    """The variance of a mean relative to independent rounds, (1 + r) / (1 − r).

    r is the lag-one autocorrelation of all rounds about their trials' means, corrected for its bias
    of −(1 + 3r) / n.
    """
    inside = np.ones(len(left), dtype=bool)
    inside[groups.starts] = False  # a trial's first round has no predecessor
    products = float((left[1:] * left[:-1])[inside[1:]].sum())
    squares = float(left @ left)
    if squares <= 0.0:
        return 1.0
    length = float(groups.sizes.mean())
    seen = products / squares
    r = min(_MOST_CORRELATED, max(0.0, seen + (1.0 + 3.0 * seen) / length))
    return (1.0 + r) / (1.0 - r)
