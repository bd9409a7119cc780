"""What a design can be expected to detect, and how soon, given the noise of a trial.

Enters: a plan's contrasts, the rule of verdicts, the standard deviation of a block's difference.
Leaves: an `Outlook`. Never: uses a power formula; it applies the rule to simulated blocks.

Block differences are normal; heavier tails decide a little sooner (docs/measured/validation.md).
The random numbers are the same every time.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.contrasts import main_effect
from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.noise.model import Expected, Outlook
from pgassay.plan.model import Plan

Array = NDArray[np.float64]
POWER = 0.9
"""Share of runs that must find an effect for it to be called detectable."""
_PATHS = 4000
_MOST_VALUES = 1_000_000
_LARGEST = 30.0
"""Largest effect that is tried, in standard deviations of a block's difference."""


@dataclass(frozen=True)
class Spreading:
    """The scatter of a block's difference, and how well a block estimates it."""

    sd: float
    """Standard deviation of a block's difference, in logarithms."""
    units: float = 1.0
    """How many independent values a block is worth; more than one in a switchback."""


@dataclass(frozen=True)
class _Paths:
    means: Array
    """Runs × blocks: means of the first n standard normal differences."""
    errors: Array
    """Their standard errors; infinite for one block."""


def difference_sd(plan: Plan, trial_sd: float) -> float:
    """The standard deviation of a block's difference, for the level that scatters most."""
    lengths = [
        float(np.sum(main_effect(plan, factor, level) ** 2))
        for factor in plan.factors
        for level in factor.levels[1:]
    ]
    return trial_sd * math.sqrt(max(lengths, default=2.0))


def outlook(rule: Rule, spread: Spreading, least: int, most: int) -> Outlook:
    """What runs of `least` to `most` blocks can be expected to find, by their own rule."""
    return Outlook(
        difference_sd=spread.sd,
        verdicts=rule.simultaneous,
        detectable=_detectable(rule, spread, least, most),
        if_different=_expected(rule, spread, least, most, rule.smallest_effect),
        if_same=_expected(rule, spread, least, most, 0.0),
    )


def blocks_for(rule: Rule, spread: Spreading, least: int, most: int) -> int | None:
    """Blocks by which 90 % of runs have a verdict, both with the smallest effect and without."""
    if rule.interval is IntervalKind.T:
        return _fixed_blocks_for(rule, spread, least, most)
    if rule.interval is IntervalKind.BOUNDED and most > rule.looks[-1]:
        # More than the run may have: its bounds end there, so those without an end are applied.
        last = rule.looks[-1]
        within = blocks_for(rule, spread, least, last) if least <= last else None
        endless = replace(rule, interval=IntervalKind.SEQUENCE, looks=())
        return within or blocks_for(endless, spread, least, most)
    needed = 0
    for effect in (rule.smallest_effect, 0.0):
        at, _ = _decided_at(rule, spread, least, most, effect)
        needed = max(needed, int(np.sort(at)[math.ceil(POWER * len(at)) - 1]))
    return needed if needed <= most else None


def _fixed_blocks_for(rule: Rule, spread: Spreading, least: int, most: int) -> int | None:
    """The same for a single look, by bisection: more blocks decide more often."""

    def enough(blocks: int) -> bool:
        return all(
            np.mean(_decided_at(rule, spread, blocks, blocks, effect)[0] <= blocks) >= POWER
            for effect in (rule.smallest_effect, 0.0)
        )

    if not enough(most):
        return None
    return bisect.bisect_left(range(most + 1), 1, lo=least, key=enough)


def _expected(rule: Rule, spread: Spreading, least: int, most: int, effect: float) -> Expected:
    at, _ = _decided_at(rule, spread, least, most, effect)
    decided = float(np.mean(at <= most))
    middle = int(np.sort(at)[(len(at) - 1) // 2])
    return Expected(effect, decided, middle if middle <= most else None)


def _detectable(rule: Rule, spread: Spreading, least: int, most: int) -> float | None:
    """The smallest detectable effect, by bisection: larger effects are found more often."""
    low, high = 0.0, _LARGEST * spread.sd
    if _found(rule, spread, least, most, high) < POWER:
        return None
    while high - low > 0.002 * high:
        middle = (low + high) / 2
        if _found(rule, spread, least, most, middle) < POWER:
            low = middle
        else:
            high = middle
    return math.expm1(high)


def _found(rule: Rule, spread: Spreading, least: int, most: int, log_effect: float) -> float:
    return float(np.mean(_decided_at(rule, spread, least, most, math.expm1(log_effect))[1]))


def _decided_at(
    rule: Rule, spread: Spreading, least: int, most: int, effect: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(block of the first verdict, or `most` + 1; whether it says "different") of each run."""
    paths = _paths(most, spread.units)
    fewest = 2 if spread.units <= 1.0 else 1
    looks = [n for n in range(max(least, fewest), most + 1) if rule.may_decide(n)]
    places = np.array(looks) - 1
    means = math.log1p(effect) + spread.sd * paths.means[:, places]
    errors = spread.sd * paths.errors[:, places]
    wide = np.array([rule.critical(n, n * spread.units, 0.05) for n in looks])
    narrow = np.array([rule.critical(n, n * spread.units, 0.10) for n in looks])
    low, high = rule.margins(1.0, ratio=True)
    with np.errstate(invalid="ignore"):
        differs = np.abs(means) > wide * errors
        inside = (means - narrow * errors > low) & (means + narrow * errors < high)
    decided = differs | inside
    first = np.argmax(decided, axis=1)
    ever = decided[np.arange(len(first)), first]
    at = np.where(ever, np.array(looks)[first], most + 1)
    return at, ever & differs[np.arange(len(first)), first]


@lru_cache(maxsize=4)
def _paths(most: int, units: float = 1.0) -> _Paths:
    count = min(_PATHS, _MOST_VALUES // most)
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
