"""Several factors, and several levels of one: interactions, simple effects, trends, single arms.

Enters: the plan, the primary metric's complete blocks. Leaves: `FactorialEffects`.
Never: changes a main verdict; each kind of estimate shares an error of 5 % of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from pgassay.analysis.comparison import verdict_of
from pgassay.analysis.contrasts import (
    BlockTable,
    Vector,
    interaction,
    mean_over,
    simple_effect,
    slope,
)
from pgassay.analysis.estimate import (
    BlockEstimate,
    Rule,
    both,
    bounded,
    estimate,
    relative,
)
from pgassay.analysis.factorial_model import (
    ArmEffect,
    Dependence,
    Estimate,
    Interaction,
    SimpleEffect,
    Trend,
)
from pgassay.analysis.max_t import each_p, max_t_p
from pgassay.analysis.metrics import Metric
from pgassay.analysis.rounds import by_block
from pgassay.plan.aliases import aliases_of
from pgassay.plan.model import Factor, Plan
from pgassay.plan.numeric_levels import Scores, scores_of

Named = TypeVar("Named")


@dataclass(frozen=True)
class FactorialEffects:
    """What is said beside the verdicts of single levels."""

    interactions: tuple[Interaction, ...]
    simple_effects: tuple[SimpleEffect, ...]
    trends: tuple[Trend, ...]
    arm_effects: tuple[ArmEffect, ...]


@dataclass(frozen=True)
class _Cell:
    """A level of one factor beside a level of another."""

    factor: Factor
    level: str
    other: Factor
    at: str
    aliases: tuple[str, ...] = ()


def factorial_effects(
    plan: Plan, metric: Metric, table: BlockTable, rule: Rule
) -> FactorialEffects:
    """Everything that several factors or levels allow, over the complete blocks."""
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
    """Estimates of one kind, which share their error."""

    plan: Plan
    metric: Metric
    table: BlockTable
    rule: Rule

    def estimates(
        self, contrasts: Iterable[tuple[Named, Vector]]
    ) -> Iterator[tuple[Named, BlockEstimate, Estimate]]:
        """Each contrast with its estimate, corrected for all of them."""
        wanted = list(contrasts)
        if not wanted:
            return
        rule = replace(self.rule, simultaneous=len(wanted))
        ratio = self.metric.scale == "ratio"
        start = float(self.table.of(mean_over(self.plan, {})).mean())
        columns = [self.table.of(weights) for _, weights in wanted]
        table = np.column_stack(columns)[: rule.declared_blocks]
        together, alone = max_t_p(table), each_p(table)
        to_pct = relative(ratio, start)
        margins = rule.margins(start, ratio=ratio)
        for at, ((named, _), differences) in enumerate(zip(wanted, columns, strict=True)):
            flipped = None if alone is None else alone[at]
            found = estimate(differences, margins, rule, self.table.trials, flipped=flipped)
            yield (
                named,
                found,
                Estimate(
                    blocks=found.blocks,
                    effect_pct=to_pct(found.mean),
                    ci95_pct=bounded(both(found.interval, to_pct), least=-100.0),
                    p_sign_flip=found.p_sign_flip,
                    p_max_t=None if together is None else together[at],
                    e_value=found.e_value,
                    blocks_to_decide=found.blocks_to_decide,
                    block_effects_pct=tuple(
                        effect
                        for d in by_block(differences, self.table.trials)
                        if (effect := to_pct(float(d))) is not None
                    ),
                    rounds=found.rounds,
                ),
            )


def _interactions(plan: Plan, family: _Family) -> Iterator[Interaction]:
    cells = list(_interaction_cells(plan))
    contrasts = ((c, interaction(plan, c.factor, c.level, c.other, c.at)) for c in cells)
    for cell, found, told in family.estimates(contrasts):
        yield Interaction(
            metric=family.metric.name,
            factor=cell.factor.name,
            level=cell.level,
            other=cell.other.name,
            at=cell.at,
            aliases=cell.aliases,
            estimate=told,
            verdict=_dependence(found),
        )


def _dependence(found: BlockEstimate) -> Dependence:
    if found.inside:
        return Dependence.NEGLIGIBLE if found.differs else Dependence.INDEPENDENT
    return Dependence.DEPENDS if found.differs else Dependence.UNDECIDED


def _interaction_cells(plan: Plan) -> Iterator[_Cell]:
    """Those that can be seen: none with one factor changed at a time; in a fraction none that is
    a main effect's alias, and one of each set of aliases."""
    if plan.combinations == "one-at-a-time":
        return
    known = aliases_of(plan.factors, plan.arms) if plan.combinations == "fraction" else {}
    told: set[tuple[str, ...]] = set()
    for one, other in itertools.combinations(plan.factors, 2):
        effect = (one.name, other.name)
        others = known.get(effect, ())
        if effect in told or any(len(alias.effect) == 1 for alias in others):
            continue
        told |= {alias.effect for alias in others}
        for level, at in itertools.product(one.levels[1:], other.levels[1:]):
            yield _Cell(one, level, other, at, tuple(map(str, others)))


def _simple_effects(plan: Plan, family: _Family) -> Iterator[SimpleEffect]:
    """The effects that each interaction is the difference of, at every level of the other."""
    pairs = dict.fromkeys((c.factor.name, c.other.name) for c in _interaction_cells(plan))
    by_name = {factor.name: factor for factor in plan.factors}
    cells = [
        _Cell(by_name[one], level, by_name[other], at)
        for one, other in pairs
        for level in by_name[one].levels[1:]
        for at in by_name[other].levels
    ]
    contrasts = ((c, simple_effect(plan, c.factor, c.level, {c.other.name: c.at})) for c in cells)
    for cell, _, told in family.estimates(contrasts):
        yield SimpleEffect(cell.factor.name, cell.level, cell.other.name, cell.at, told)


def _trends(plan: Plan, family: _Family) -> Iterator[Trend]:
    scored = [(f, scores) for f in plan.factors if (scores := scores_of(f)) is not None]
    contrasts = (
        ((factor, scores), slope(plan, factor, scores.values) * scores.span)
        for factor, scores in scored
    )
    for (factor, scores), found, told in family.estimates(contrasts):
        yield Trend(
            metric=family.metric.name,
            factor=factor.name,
            lowest=factor.levels[int(np.argmin(scores.values))],
            highest=factor.levels[int(np.argmax(scores.values))],
            per_doubling_pct=_per_doubling(found.mean, scores, family.metric),
            estimate=told,
            verdict=verdict_of(found, family.metric),
        )


def _per_doubling(whole: float, scores: Scores, metric: Metric) -> float | None:
    if not scores.doublings or metric.scale != "ratio":
        return None
    return 100.0 * math.expm1(whole / scores.span)


def _arm_effects(plan: Plan, family: _Family) -> Iterator[ArmEffect]:
    """Every arm against the baseline of all factors; with one factor the verdicts say it."""
    if len(plan.factors) < 2 or plan.combinations == "one-at-a-time":
        return
    contrasts = ((arm.id, _arm(plan, at)) for at, arm in enumerate(plan.arms) if at)
    for arm, _, told in family.estimates(contrasts):
        yield ArmEffect(arm, told)


def _arm(plan: Plan, at: int) -> Vector:
    weights = np.zeros(len(plan.arms))
    weights[at], weights[0] = 1.0, -1.0
    return weights


def joint_p(
    tables: Sequence[BlockTable], contrasts: Sequence[Vector], declared: int
) -> list[float] | None:
    """max-T p values of contrasts that are of several tables, over the blocks all of them have."""
    if not tables:
        return None
    tables = [table.known_for(c) for table, c in zip(tables, contrasts, strict=True)]
    shared = sorted(set.intersection(*(set(table.blocks) for table in tables)))[:declared]
    if len(shared) < 2:
        return None
    columns = [t.only(shared).of(c) for t, c in zip(tables, contrasts, strict=True)]
    return max_t_p(np.column_stack(columns))
