"""The rule of verdicts applied to simulated runs.

Enters: a rule, the scatter of a block's difference, an effect, limits of gates. Leaves: when each
run would end, with what estimate and outcomes. Never: sees a measured value, or uses a formula for
power.

Block differences are normal; heavier tails decide a little sooner (docs/measured/validation.md).
The random numbers are the same every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.positions import FEWEST_BLOCKS
from pgassay.analysis.compare.model import FEW_BLOCKS
from pgassay.analysis.compare.rule import Rule
from pgassay.plan.model import Gate
from pgassay.plan.orders import FEWEST_ORDERS, SEPARATED_BY

Array = NDArray[np.float64]
_PATHS = 4000
_MOST_VALUES = 1_000_000
_KEPT = 16
"""Of what is computed for a number of blocks: every length of a trial that is tried needs the same
numbers of blocks, nine or fewer, one after the other."""


@dataclass(frozen=True)
class Spreading:
    """The scatter of a block's difference, and how well a block estimates it."""

    sd: float
    """Standard deviation of a block's difference, in logarithms."""
    units: float = 1.0
    """How many independent values a block is worth; more than one in a switchback."""
    adjusted: bool = False
    """Whether the position in the block is a covariate, which takes a degree of freedom."""

    def worth(self, blocks: int) -> float:
        """Returns how many independent values so many blocks are worth."""
        return blocks * self.units - (self.adjusted and blocks >= FEWEST_BLOCKS)


@dataclass(frozen=True)
class Limit:
    """The limit of a gate on the metric, in logarithms."""

    at: float
    above: bool
    """Whether the effect must be above it, or below."""

    @classmethod
    def of(cls, gate: Gate) -> Limit:
        """Returns the limit of a gate whose metric is compared by ratios."""
        return cls(math.log1p(gate.limit / 100.0), gate.above)

    def mirrored(self) -> Limit:
        """Returns the limit for effects with the other sign."""
        return Limit(-self.at, not self.above)


@dataclass(frozen=True)
class SimulatedRuns:
    """The ends of simulated runs: after how many blocks, with which verdict."""

    blocks: NDArray[np.int64]
    """When all is decided; `most` + 1 where it never is."""
    means: Array
    """The estimates then, or after `most` blocks, in logarithms."""
    differs: NDArray[np.bool_]
    """Whether the verdict says that the arms differ."""
    fails: NDArray[np.bool_]
    """Whether a gate fails."""
    holds: NDArray[np.bool_]
    """Whether every gate holds."""


def simulated_runs(
    rule: Rule,
    spread: Spreading,
    least: int,
    most: int,
    log_effect: float,
    limits: Sequence[Limit] = (),
    *,
    limits_only: bool = False,
    count: int = _PATHS,
) -> SimulatedRuns:
    """So many runs of `least` to `most` blocks with this effect, which end when the verdict and
    every gate are decided, or the gates alone."""
    paths = _adjusted_paths(most, count) if spread.adjusted else _paths(most, spread.units, count)
    fewest = 2 if spread.units <= 1.0 else 1
    looks = [n for n in range(max(least, fewest), most + 1) if rule.may_decide(n)]
    places = np.array(looks) - 1
    means = log_effect + spread.sd * paths.means[:, places]
    errors = spread.sd * paths.errors[:, places]
    wide, narrow = (
        np.array([_critical(rule, spread, n, alpha) for n in looks]) for alpha in (0.05, 0.10)
    )
    low, high = rule.margins(1.0, ratio=True)
    with np.errstate(invalid="ignore"):
        differs = np.abs(means) > wide * errors
        inside = (means - narrow * errors > low) & (means + narrow * errors < high)
        sides = [1.0 if limit.above else -1.0 for limit in limits]
        beyond = [side * (means - limit.at) for side, limit in zip(sides, limits, strict=True)]
        holds = [one > narrow * errors for one in beyond]
        fails = [one < -wide * errors for one in beyond]
    decided = np.full(means.shape, True) if limits_only else differs | inside
    for held, failed in zip(holds, fails, strict=True):
        decided &= held | failed
    runs = np.arange(len(means))
    ever = decided.any(axis=1)
    first = np.where(ever, np.argmax(decided, axis=1), len(looks) - 1)
    none, each = np.zeros(means.shape, dtype=bool), np.ones(means.shape, dtype=bool)
    return SimulatedRuns(
        blocks=np.where(ever, np.array(looks)[first], most + 1),
        means=means[runs, first],
        differs=differs[runs, first],
        fails=np.logical_or.reduce([none, *fails])[runs, first],
        holds=np.logical_and.reduce([each, *holds])[runs, first],
    )


def _critical(rule: Rule, spread: Spreading, blocks: int, alpha: float) -> float:
    if spread.units <= 1.0 and blocks < FEW_BLOCKS:
        return np.inf
    return rule.critical(blocks, spread.worth(blocks), alpha)


@dataclass(frozen=True)
class _Paths:
    means: Array
    """Runs × blocks: means of the first n standard normal differences."""
    errors: Array
    """Their standard errors; infinite for one block."""


@lru_cache(maxsize=_KEPT)
def _paths(most: int, units: float, count: int) -> _Paths:
    count = min(count, _MOST_VALUES // most)
    source = np.random.default_rng(0)
    draws = source.standard_normal((count, most))
    n = np.arange(1, most + 1)
    sums = np.cumsum(draws, axis=1)
    means = sums / n
    if units > 1.0:
        # The rounds of each block add so many degrees of freedom to the variance.
        freedom = np.r_[units - 1.0, np.full(most - 1, units)]
        squares = np.cumsum(source.chisquare(freedom, (count, most)), axis=1)
        return _Paths(means, np.sqrt(squares / (n * units - 1.0) / n))
    squares = np.cumsum(draws**2, axis=1)
    variances = np.maximum(squares - sums * means, 0.0) / np.maximum(n - 1, 1)
    errors = np.sqrt(variances / n)
    errors[:, 0] = np.inf
    return _Paths(means, errors)


@lru_cache(maxsize=_KEPT)
def _adjusted_paths(most: int, count: int) -> _Paths:
    """The same of two arms, with the position in the block as a covariate of the differences.

    Its price is a degree of freedom, and more where one order was run more often than the other.
    """
    plain = _paths(most, 1.0, count)
    count = len(plain.means)
    signs = _first_arms(count, most)
    draws = np.random.default_rng(0).standard_normal((count, most))
    n = np.arange(1, most + 1)
    sums, both, of_signs = (np.cumsum(one, axis=1) for one in (draws, draws * signs, signs))
    around = n - of_signs**2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (both - of_signs * sums / n) / around
        squares = np.cumsum(draws**2, axis=1) - sums**2 / n - slopes**2 * around
        variances = np.maximum(squares, 0.0) / (n - 2) * (1.0 / n + (of_signs / n) ** 2 / around)
        means, errors = (sums - slopes * of_signs) / n, np.sqrt(variances)
    few = n < FEWEST_BLOCKS
    return _Paths(np.where(few, plain.means, means), np.where(few, plain.errors, errors))


def _first_arms(count: int, most: int) -> Array:
    """Runs × blocks: 1 where the first of two arms runs first, else -1; drawn by the law of
    `balanced_orders`, all runs at once."""
    source = np.random.default_rng(1)
    group = np.resize([1.0, -1.0], FEWEST_ORDERS)
    groups = source.permuted(np.tile(group, (count, -(-most // FEWEST_ORDERS), 1)), axis=2)
    while (alike := np.abs(groups[:, 0, :SEPARATED_BY].sum(axis=1)) == SEPARATED_BY).any():
        groups[alike, 0] = source.permuted(groups[alike, 0], axis=1)
    return groups.reshape(count, -1)[:, :most]
