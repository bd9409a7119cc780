"""Verdicts that are not given, because what they rest on cannot be trusted.

Enters: comparisons, factorial effects, what is doubtful. Leaves: the same, undecided there.
Never: changes an estimate; figures without a verdict (simple effects, single arms) lose what would
be read as one, their interval and their p.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pgassay.analysis.factorial import FactorialEffects
from pgassay.analysis.factorial_model import Dependence, Estimate
from pgassay.analysis.model import (
    Comparison,
    Verdict,
)
from pgassay.analysis.turns_model import Withdrawn
from pgassay.plan.model import Plan

Level = tuple[str, str]
"""A factor's name, and a level of it."""
LevelAt = tuple[str, str, float | None]
"""The same at one step, or over whole trials."""


@dataclass(frozen=True)
class Withdrawal:
    """Why there is no verdict, and whether this run can still have one."""

    reason: Withdrawn
    for_good: bool


def without_verdicts(
    comparisons: Sequence[Comparison], doubtful: Mapping[Level, Withdrawal]
) -> tuple[Comparison, ...]:
    """Undecided for these levels, on every metric; what is undecided for a reason keeps it."""
    return tuple(
        c
        if c.withdrawn is not None or (why := doubtful.get((c.factor, c.level))) is None
        else _withdrawn(c, why)
        for c in comparisons
    )


def without_standing(
    comparisons: Sequence[Comparison], kept: Mapping[LevelAt, Collection[str]]
) -> tuple[Comparison, ...]:
    """Undecided for these levels, on every metric but the ones kept: those that have a value even
    in a trial that stood still, as the share of transactions that failed has."""
    why = Withdrawal(Withdrawn.STANDSTILL, for_good=True)

    def is_taken(c: Comparison) -> bool:
        at = (c.factor, c.level, c.step)
        return at in kept and c.metric not in kept[at]

    return tuple(_withdrawn(c, why) if is_taken(c) else c for c in comparisons)


def _withdrawn(comparison: Comparison, why: Withdrawal) -> Comparison:
    return replace(
        comparison,
        verdict=Verdict.UNDECIDED,
        blocks_to_decide=None,
        withdrawn=why.reason,
        withdrawn_for_good=why.for_good,
    )


def without_effects(
    effects: FactorialEffects, plan: Plan, doubtful: Collection[Level]
) -> FactorialEffects:
    """The same for whatever the factors of these levels have a part in."""
    factors = {name for name, _ in doubtful}
    baseline = plan.arms[0].levels
    arms: Mapping[str, Mapping[str, str]] = {arm.id: arm.levels for arm in plan.arms}
    return FactorialEffects(
        interactions=tuple(
            replace(one, verdict=Dependence.UNDECIDED, estimate=_open(one.estimate))
            if factors & {one.factor, one.other}
            else one
            for one in effects.interactions
        ),
        simple_effects=tuple(
            replace(one, estimate=_bare(one.estimate)) if factors & {one.factor, one.other} else one
            for one in effects.simple_effects
        ),
        trends=tuple(
            replace(one, verdict=Verdict.UNDECIDED, estimate=_open(one.estimate))
            if one.factor in factors
            else one
            for one in effects.trends
        ),
        arm_effects=tuple(
            replace(one, estimate=_bare(one.estimate))
            if any(arms[one.arm][name] != baseline[name] for name in factors)
            else one
            for one in effects.arm_effects
        ),
    )


def _open(estimate: Estimate) -> Estimate:
    """Whose verdict is withdrawn: more blocks do not bring it."""
    return replace(estimate, blocks_to_decide=None)


def _bare(estimate: Estimate) -> Estimate:
    return replace(_open(estimate), ci95_pct=None, p_sign_flip=None, p_max_t=None, e_value=None)
