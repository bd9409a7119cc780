"""What a design can be expected to detect, and how soon, given the noise of a trial.

Enters: a plan's contrasts, the rule of verdicts, the standard deviation of a block's difference.
Leaves: an `Outlook`. Never: uses a power formula; it applies the rule to simulated blocks.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.blocks.contrasts import main_effect
from pgassay.analysis.compare.model import IntervalKind
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.simulated_runs import Spreading, simulated_runs
from pgassay.analysis.noise.model import Expected, Outlook
from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.model import Plan
from pgassay.spec.stopping import sequential_looks

POWER = 0.9
"""Share of runs that must find an effect for it to be called detectable."""
_LONGER = (24, 36, 48, 72, 100, 150)
"""Values of max_blocks that are considered where that of the plan is too small."""
_LARGEST = 30.0
"""Largest effect that is tried, in standard deviations of a block's difference."""


def difference_sd(plan: Plan, trial_sd: float) -> float:
    """The standard deviation of a block's difference, for the level that scatters most."""
    lengths = [
        float(np.sum(main_effect(plan, factor, level) ** 2))
        for factor in plan.factors
        for level in factor.levels[1:]
    ]
    return trial_sd * math.sqrt(max(lengths, default=2.0))


def blocks_spreading(plan: Plan, trial_sd: float) -> Spreading:
    """The scatter of the differences of blocks, for the level that scatters most."""
    return Spreading(difference_sd(plan, trial_sd), adjusted=METRICS[plan.metric].scale == "ratio")


def outlook(rule: Rule, spread: Spreading, least: int, most: int) -> Outlook:
    """Simulates what runs of `least` to `most` blocks can be expected to find, by their own
    rule."""
    return Outlook(
        difference_sd=spread.sd,
        verdicts=rule.simultaneous,
        detectable=detectable_effect(rule, spread, least, most),
        if_different=_expected(rule, spread, least, most, rule.smallest_effect),
        if_same=_expected(rule, spread, least, most, 0.0),
    )


def blocks_for(rule: Rule, spread: Spreading, least: int, most: int) -> int | None:
    """Blocks by which 90 % of runs have a verdict, both with the smallest effect and without."""
    if rule.interval is IntervalKind.T:
        return _fixed_blocks_for(rule, spread, least, most)
    if rule.interval is IntervalKind.BOUNDED and most > rule.looks[-1]:
        # More than the run may have: the same for runs that may have more.
        last = rule.looks[-1]
        longer = [one for one in _LONGER if max(last, least) < one < most] + [most]
        runs = [(last, rule.looks)] if least <= last else []
        runs += [(one, sequential_looks(least, one)) for one in longer]
        found = (blocks_for(replace(rule, looks=at), spread, least, one) for one, at in runs)
        return next((one for one in found if one is not None), None)
    needed = 0
    for effect in (rule.smallest_effect, 0.0):
        at = _decided_at(rule, spread, least, most, effect)
        needed = max(needed, int(np.sort(at)[math.ceil(POWER * len(at)) - 1]))
    return needed if needed <= most else None


def _fixed_blocks_for(rule: Rule, spread: Spreading, least: int, most: int) -> int | None:
    """The same for a single look, by bisection: more blocks decide more often."""

    def enough(blocks: int) -> bool:
        return all(
            np.mean(_decided_at(rule, spread, blocks, blocks, effect) <= blocks) >= POWER
            for effect in (rule.smallest_effect, 0.0)
        )

    if not enough(most):
        return None
    return bisect.bisect_left(range(most + 1), 1, lo=least, key=enough)


def _expected(rule: Rule, spread: Spreading, least: int, most: int, effect: float) -> Expected:
    at = _decided_at(rule, spread, least, most, effect)
    decided = float(np.mean(at <= most))
    middle = int(np.sort(at)[(len(at) - 1) // 2])
    return Expected(effect, decided, middle if middle <= most else None)


def detectable_effect(rule: Rule, spread: Spreading, least: int, most: int) -> float | None:
    """Returns the smallest detectable effect, a share of the baseline, by bisection: larger effects
    are found more often. None where there is none."""
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
    return float(np.mean(simulated_runs(rule, spread, least, most, log_effect).differs))


def _decided_at(
    rule: Rule, spread: Spreading, least: int, most: int, effect: float
) -> NDArray[np.int64]:
    """The block of each run's first verdict, or `most` + 1."""
    return simulated_runs(rule, spread, least, most, math.log1p(effect)).blocks
