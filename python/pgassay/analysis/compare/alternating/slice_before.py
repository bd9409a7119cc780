"""Carry-over estimated from the slice before: does the effect depend on which arm ran before?

Enters: the plan, the weights of a contrast, the trials of a switchback or duet. Leaves: a value per
round whose mean is the effect carried over from the slice before. Never: compares between trials,
so effects that differ between trials do not count.

The order of each round is drawn, so whether its first slice follows one of the same arm is a fair
coin. With weights w over the arms, G is the sum of w(arm) · w(arm before) over a round's slices. If
a share c of the arm before remains, the round's contrast is (1 − c) τ + c τ G / w·w, so c τ is w·w
times the slope of the contrasts on G. Bojinov, Simchi-Levi and Zhao (Management Science 69, 2023)
estimate the lag of an effect in the same way. docs/methods/verdicts.md, "Switchback".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.alternating.rounds import (
    FEWEST_ROUNDS,
    Groups,
    Spread,
    spread_of_rounds,
)
from pgassay.analysis.compare.alternating.turns import arms_of
from pgassay.analysis.compare.blocks.contrasts import BlockTable, Vector
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.plan.model import Plan


@dataclass(frozen=True)
class AfterOwn:
    """Effects in logarithms, by the arm of the slice before."""

    same: float
    """The effect after a slice of the same arm."""
    other: float
    """The effect after a slice of another arm."""
    spread: Spread
    """Their difference, with its error."""


def of_rounds(table: BlockTable, before: Vector, weights: Vector) -> AfterOwn | None:
    """Estimates what is carried over; `before` are the `products` of all trials.

    None where no trial has enough rounds of both kinds.
    """
    if table.trials is None or not table.blocks:
        return None
    after = before[np.array(table.blocks) - 1]
    rows = np.argsort(table.trials, kind="stable")
    rows = rows[np.isfinite(after[rows])]
    if not len(rows):
        return None
    groups = Groups.of(table.trials[rows])
    enough = (groups.sizes >= FEWEST_ROUNDS) & groups.vary(after[rows])
    rows = rows[np.repeat(enough, groups.sizes)]
    if not len(rows):
        return None
    blocks, own, effects = table.trials[rows], after[rows], table.of(weights)[rows]
    groups = Groups.of(blocks)
    length = float(weights @ weights)
    centred = groups.less_means(own)
    # The influence values of the slope: their mean is the slope, their spread gives its error.
    sizes = np.repeat(groups.means(centred**2), groups.sizes)
    slopes = centred * groups.less_means(effects) / sizes
    spread = spread_of_rounds(length * slopes, blocks)
    means, places = groups.means(effects), groups.means(own) / length
    # Of two arms, G is 0 where a round's first slice follows its own, and -w·w where it does not.
    same = float(np.mean(means)) - spread.mean * float(np.mean(places))
    return AfterOwn(same, same - spread.mean, spread)


def dilution(plan: Plan) -> float:
    """Returns how far the mean contrast falls short of the effect, in multiples of what is carried
    over.

    This is the mean of 1 − G / w·w over all orders.
    """
    return 1.0 + 1.0 / len(plan.arms)


def products(plan: Plan, trials: Sequence[TrialMeasures], weights: Vector) -> Vector:
    """Returns G of every round, numbered as in `all_rounds`; NaN for the first round of a trial."""
    size = len(plan.arms)
    found = [np.empty(0)]
    for trial in trials:
        own = weights[arms_of(plan, trial)]
        if len(own):
            pairs = own * np.r_[np.nan, own[:-1]]
            found.append(np.add.reduceat(pairs, np.arange(0, len(own), size)))
    return np.concatenate(found)
