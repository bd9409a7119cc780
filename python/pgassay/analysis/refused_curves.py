"""Curves of levels that have no verdict: shown, without what would be read as one.

Enters: curves, and an analysis whose verdicts are withdrawn where they must be. Leaves: the same
curves without bands, crossings and knees there, and no contrast of checkpoints. Never: changes a
point of a curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.course_model import CheckpointContrast
from pgassay.analysis.curves_model import EffectByLoad, LoadCurve, QuantileShift
from pgassay.analysis.model import Analysis
from pgassay.analysis.withdrawing import Level, LevelAt
from pgassay.plan.model import Plan

_STILL = "not one transaction succeeded in some of its trials"
_REFUSED = "its verdict is not given; the warnings tell why"


def without_verdict(analysis: Analysis) -> frozenset[LevelAt]:
    """(factor, level, step) of the verdicts that are withdrawn, or that never had a figure."""
    withdrawn = {(c.factor, c.level, c.step) for c in analysis.verdicts() if c.withdrawn}
    never = {(*level, one.step) for one in analysis.standstills for level in one.takes}
    return frozenset(withdrawn | never)


def wholly_without(analysis: Analysis) -> frozenset[Level]:
    """Levels that have no verdict at any step, nor over whole trials."""
    refused = without_verdict(analysis)
    given = {(c.factor, c.level) for c in analysis.verdicts() if not c.withdrawn}
    return frozenset((factor, level) for factor, level, _ in refused) - given


def bare_shifts(
    shifts: Sequence[QuantileShift], refused: frozenset[LevelAt]
) -> tuple[QuantileShift, ...]:
    """Without their bands where the level has no verdict at that step, or over whole trials."""
    return tuple(
        replace(one, band95_pct=(None,) * len(one.shares), refused=one.refused or _REFUSED)
        if {(one.factor, one.level, one.step), (one.factor, one.level, None)} & refused
        else one
        for one in shifts
    )


def bare_effects(
    effects: Sequence[EffectByLoad], refused: frozenset[LevelAt]
) -> tuple[EffectByLoad, ...]:
    """Without their bands and crossings where the level has no verdict at some step: one band
    speaks for all of them."""
    levels = {(factor, level) for factor, level, _ in refused}
    return tuple(
        replace(
            one, band95_pct=(None,) * len(one.loads), crossings=(), refused=one.refused or _REFUSED
        )
        if (one.factor, one.level) in levels
        else one
        for one in effects
    )


def bare_curves(
    curves: Sequence[LoadCurve], plan: Plan, analysis: Analysis
) -> tuple[LoadCurve, ...]:
    """Without intervals and knee where the arm stood still, or is of a level that has no verdict:
    the rest is not what it does."""
    levels = wholly_without(analysis)
    reasons = {arm.id: _REFUSED for arm in plan.arms if levels & set(arm.levels.items())}
    reasons |= dict.fromkeys((one.arm for one in analysis.standstills), _STILL)
    return tuple(
        replace(one, interval95=(None,) * len(one.clients), fit=None, refused=reasons[one.arm])
        if one.arm in reasons
        else one
        for one in curves
    )


def told_contrasts(
    contrasts: Sequence[CheckpointContrast], analysis: Analysis
) -> tuple[CheckpointContrast, ...]:
    """Those of levels that have a verdict: they too set arms against each other."""
    levels = wholly_without(analysis)
    return tuple(one for one in contrasts if (one.factor, one.level) not in levels)
