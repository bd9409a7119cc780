"""Interactions, simple effects, trends and single arms, of several factors or levels.

Enters: the plan, the primary metric's complete blocks. Leaves: `FactorialEffects`.
Never: changes a main verdict; each kind of estimate is a family with its own 5 % error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pgassay.analysis.compare.alternating.rounds import by_block
from pgassay.analysis.compare.alternating.slow_effects import unless_slow
from pgassay.analysis.compare.blocks.contrast_estimate import contrast_estimate
from pgassay.analysis.compare.blocks.contrasts import (
    BlockTable,
    Vector,
    interaction,
    mean_over,
    simple_effect,
    slope,
)
from pgassay.analysis.compare.blocks.positions import without_positions
from pgassay.analysis.compare.estimate import BlockEstimate, both, bounded, relative
from pgassay.analysis.compare.levels import verdict_of
from pgassay.analysis.compare.model import (
    ArmEffect,
    Dependence,
    Estimate,
    Interaction,
    SimpleEffect,
    Trend,
)
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.step_down import Reached, step_down
from pgassay.analysis.reading.metrics import Metric
from pgassay.plan.factorial.aliases import aliases_of
from pgassay.plan.factorial.numeric_levels import Scores, scores_of
from pgassay.plan.model import Factor, Plan

Named = TypeVar("Named")


@dataclass(frozen=True)
class FactorialEffects:
    """The estimates beside the verdicts of single levels."""

    interactions: tuple[Interaction, ...]
    simple_effects: tuple[SimpleEffect, ...]
    trends: tuple[Trend, ...]
    arm_effects: tuple[ArmEffect, ...]


@dataclass(frozen=True)
class _Cell:
    """A level of one factor combined with a level of another."""

    factor: Factor
    level: str
    other: Factor
    at: str
    aliases: tuple[str, ...] = ()


def factorial_effects(
    plan: Plan, metric: Metric, table: BlockTable, rule: Rule
) -> FactorialEffects:
    """Estimates all effects that the design allows, over the complete blocks."""
    table = table.complete()
    if not table.blocks:
        return FactorialEffects((), (), (), ())
    family = _Family(plan, metric, table, rule)
    return FactorialEffects(
        tuple(_interactions(plan, family)),
        tuple(_simple_effects(plan, family)),
        tuple(_trends(plan, family)),
        tuple(_arm_effects(plan, family)),
    )


@dataclass(frozen=True)
class _Family:
    """Computes the estimates of one kind, which share their error."""

    plan: Plan
    metric: Metric
    table: BlockTable
    rule: Rule

    def estimates(
        self, contrasts: Iterable[tuple[Named, Vector]]
    ) -> Iterator[tuple[Named, BlockEstimate, Estimate]]:
        """Estimates each contrast, corrected for all of them."""
        wanted = list(contrasts)
        if not wanted:
            return
        rule = replace(self.rule, simultaneous=len(wanted))
        ratio = self.metric.scale == "ratio"
        adjusted = without_positions(self.table)
        start = float(adjusted.table.of(mean_over(self.plan, {})).mean())
        to_pct = relative(ratio, start)
        margins = rule.margins(start, ratio=ratio)

        def estimated(at: int, rule: Rule) -> BlockEstimate:
            weights = wanted[at][1]
            found = contrast_estimate(adjusted, weights, margins, rule)
            if self.plan.calibrates:
                return found
            return unless_slow(found, self.table, weights, margins, rule)

        every, _ = step_down(range(len(wanted)), estimated, _says, rule, Reached())
        for (named, weights), found in zip(wanted, every.values(), strict=True):
            yield (
                named,
                found,
                Estimate(
                    blocks=found.blocks,
                    effect_pct=to_pct(found.mean),
                    ci95_pct=bounded(both(found.interval, to_pct), least=-100.0),
                    p_sign_flip=found.p_sign_flip,
                    p_looks=found.p_looks,
                    blocks_to_decide=None if found.withheld else found.blocks_to_decide,
                    block_effects_pct=tuple(
                        effect
                        for d in by_block(adjusted.differences(weights), self.table.trials)
                        if (effect := to_pct(float(d))) is not None
                    ),
                    rounds=found.rounds,
                ),
            )


def _says(found: BlockEstimate) -> tuple[bool, bool]:
    return found.differs, found.inside


def _interactions(plan: Plan, family: _Family) -> Iterator[Interaction]:
    cells = list(_interaction_cells(plan))
    contrasts = ((c, interaction(plan, c.factor, c.level, c.other, c.at)) for c in cells)
    for cell, found, reported in family.estimates(contrasts):
        yield Interaction(
            metric=family.metric.name,
            factor=cell.factor.name,
            level=cell.level,
            other=cell.other.name,
            at=cell.at,
            aliases=cell.aliases,
            estimate=reported,
            verdict=_dependence(found),
        )


def _dependence(found: BlockEstimate) -> Dependence:
    if found.inside:
        return Dependence.NEGLIGIBLE if found.differs else Dependence.INDEPENDENT
    return Dependence.DEPENDS if found.differs else Dependence.UNDECIDED


def _interaction_cells(plan: Plan) -> Iterator[_Cell]:
    """The interactions that the design can estimate.

    None with one factor changed at a time; in a fraction none that is an alias of a main effect,
    and one of each set of aliases.
    """
    if plan.combinations == "one-at-a-time":
        return
    known = aliases_of(plan.factors, plan.arms) if plan.combinations == "fraction" else {}
    reported: set[tuple[str, ...]] = set()
    for one, other in itertools.combinations(plan.factors, 2):
        effect = (one.name, other.name)
        others = known.get(effect, ())
        if effect in reported or any(len(alias.effect) == 1 for alias in others):
            continue
        reported |= {alias.effect for alias in others}
        for level, at in itertools.product(one.levels[1:], other.levels[1:]):
            yield _Cell(one, level, other, at, tuple(map(str, others)))


def _simple_effects(plan: Plan, family: _Family) -> Iterator[SimpleEffect]:
    """Each level's effect at every level of a factor that it may interact with."""
    pairs = dict.fromkeys((c.factor.name, c.other.name) for c in _interaction_cells(plan))
    by_name = {factor.name: factor for factor in plan.factors}
    cells = [
        _Cell(by_name[one], level, by_name[other], at)
        for one, other in pairs
        for level in by_name[one].levels[1:]
        for at in by_name[other].levels
    ]
    contrasts = ((c, simple_effect(plan, c.factor, c.level, {c.other.name: c.at})) for c in cells)
    for cell, _, reported in family.estimates(contrasts):
        yield SimpleEffect(cell.factor.name, cell.level, cell.other.name, cell.at, reported)


def _trends(plan: Plan, family: _Family) -> Iterator[Trend]:
    scored = [(f, scores) for f in plan.factors if (scores := scores_of(f)) is not None]
    contrasts = (
        ((factor, scores), slope(plan, factor, scores.values) * scores.span)
        for factor, scores in scored
    )
    for (factor, scores), found, reported in family.estimates(contrasts):
        yield Trend(
            metric=family.metric.name,
            factor=factor.name,
            lowest=factor.levels[int(np.argmin(scores.values))],
            highest=factor.levels[int(np.argmax(scores.values))],
            per_doubling_pct=_per_doubling(found.mean, scores, family.metric),
            estimate=reported,
            verdict=verdict_of(found, family.metric),
        )


def _per_doubling(whole: float, scores: Scores, metric: Metric) -> float | None:
    if not scores.doublings or metric.scale != "ratio":
        return None
    return 100.0 * math.expm1(whole / scores.span)


def _arm_effects(plan: Plan, family: _Family) -> Iterator[ArmEffect]:
    """Every arm against the arm of all baselines; with one factor the verdicts say the same."""
    if len(plan.factors) < 2 or plan.combinations == "one-at-a-time":
        return
    contrasts = ((arm.id, _arm(plan, at)) for at, arm in enumerate(plan.arms) if at)
    for arm, _, reported in family.estimates(contrasts):
        yield ArmEffect(arm, reported)


def _arm(plan: Plan, at: int) -> Vector:
    weights = np.zeros(len(plan.arms))
    weights[at], weights[0] = 1.0, -1.0
    return weights
