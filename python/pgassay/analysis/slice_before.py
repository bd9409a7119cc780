"""How much an effect depends on whose slice came before: what outlasts a slice, seen directly.

Enters: the plan, the weights of a contrast, the trials of alternating arms. Leaves: a value per
round whose mean is the part of the effect that is still the slice before's. Never: leaves the
trial: trials whose effects differ say nothing here.

The order of each round is drawn, so whether its first slice follows one of the same arm is a fair
coin, and what follows another arm still has some of it. With weights w over the arms, G is the sum
of w(arm) · w(arm before) over a round's slices; where a share c of the arm before is left, the
round's contrast is (1 − c) τ + c τ G / w·w. So c τ is w·w times the slope of the contrasts on G.
Bojinov, Simchi-Levi & Zhao (Management Science 69, 2023) estimate the lag of an effect in the same
way, by comparing assignments that share their recent past. docs/methods.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.contrasts import BlockTable, Vector, round_table
from pgassay.analysis.metrics import Metric
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.rounds import FEWEST_ROUNDS, Groups, Spread, spread_of_rounds
from pgassay.plan.model import Plan


@dataclass(frozen=True)
class AfterOwn:
    """Effects in logarithms, by the slice before."""

    same: float
    """After a slice of the same arm;"""
    other: float
    """after one of another."""
    spread: Spread
    """Of the one less the other."""


def by_slice_before(
    metric: Metric, plan: Plan, trials: Sequence[TrialMeasures], weights: Vector
) -> AfterOwn | None:
    """None where no trial has rounds of both kinds enough."""
    return of_rounds(round_table(metric, trials, plan), products(plan, trials, weights), weights)


def of_rounds(table: BlockTable, before: Vector, weights: Vector) -> AfterOwn | None:
    """The same of rounds; `before` are the `products` of all of their trials."""
    if table.trials is None or not table.blocks:
        return None
    after = before[np.array(table.blocks) - 1]
    rows = np.argsort(table.trials, kind="stable")
    rows = rows[np.isfinite(after[rows])]
    if not len(rows):
        return None
    groups = Groups.of(table.trials[rows])
    told = (groups.sizes >= FEWEST_ROUNDS) & groups.vary(after[rows])
    rows = rows[np.repeat(told, groups.sizes)]
    if not len(rows):
        return None
    blocks, own, effects = table.trials[rows], after[rows], table.of(weights)[rows]
    groups = Groups.of(blocks)
    length = float(weights @ weights)
    centred = groups.less_means(own)
    # Its mean is the slope; it scatters as the slope's own influence of each round does.
    sizes = np.repeat(groups.means(centred**2), groups.sizes)
    slopes = centred * groups.less_means(effects) / sizes
    spread = spread_of_rounds(length * slopes, blocks)
    means, places = groups.means(effects), groups.means(own) / length
    # Of two arms, G is 0 where a round's first slice follows its own, and -w·w where it does not.
    same = float(np.mean(means)) - spread.mean * float(np.mean(places))
    return AfterOwn(same, same - spread.mean, spread)


def dilution(plan: Plan) -> float:
    """By how much the mean contrast falls short of the effect, in parts of what is carried over:
    the mean of 1 − G / w·w over the orders that may be drawn."""
    return 1.0 + 1.0 / len(plan.arms)


def products(plan: Plan, trials: Sequence[TrialMeasures], weights: Vector) -> Vector:
    """G of every round, in the order that `all_rounds` numbers them in; NaN of a trial's first,
    which follows none."""
    weight = dict(zip((arm.id for arm in plan.arms), map(float, weights), strict=True))
    size = len(plan.arms)
    found: list[float] = []
    for trial in trials:
        own = [weight[turn.arm] for turn in trial.turns]
        for first in range(0, len(own), size):
            pairs = zip(own[first : first + size], own[first - 1 :], strict=False)
            found.append(sum(here * past for here, past in pairs) if first else math.nan)
    return np.array(found, dtype=np.float64)
