"""From trials to one number per block: which arms a level, a cell or a line is the mean of.

Enters: a plan's arms, trial measures. Leaves: complete blocks as a table, and weights over arms.
Never: infers anything.

Every weight sums over the arms of a block, so that whatever the block's trials share cancels in a
contrast (docs/methods.md, Several factors).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.metrics import Metric
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.rounds import FEWEST_ROUNDS
from pgassay.plan.model import Factor, Plan

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BlockTable:
    """The complete blocks of one metric: a row each, a column per arm of the plan."""

    blocks: tuple[int, ...]
    values: NDArray[np.float64]
    """On the scale of comparison: logarithms where that is a ratio. NaN where a trial has none."""
    trials: NDArray[np.int64] | None = None
    """Where arms take turns: a row is a round of slices, and this is the block it is of."""

    def of(self, weights: Vector) -> Vector:
        """One number per block; every row is summed in the same order, so equal rows stay equal."""
        summed: Vector = (self.values * weights).sum(axis=1)
        return summed

    def known_for(self, weights: Vector) -> BlockTable:
        """The rows in which every arm of a contrast has a value; what others lack is of no account.

        One arm that stands still would else take its blocks from all others too.
        """
        known = np.isfinite(self.values)
        if known.all():
            return self
        kept = np.flatnonzero(known[:, weights != 0.0].all(axis=1))
        trials = None if self.trials is None else self.trials[kept]
        values = np.where(known, self.values, 0.0)[kept]
        return BlockTable(tuple(self.blocks[at] for at in kept), values, trials)

    def complete(self) -> BlockTable:
        """The rows in which every arm has a value."""
        return self.known_for(np.ones(self.values.shape[1]))

    def only(self, blocks: Sequence[int]) -> BlockTable:
        """The rows of some of its blocks."""
        wanted = set(blocks)
        kept = [at for at, block in enumerate(self.blocks) if block in wanted]
        if len(kept) == len(self.blocks):
            return self
        trials = None if self.trials is None else self.trials[kept]
        return BlockTable(tuple(self.blocks[at] for at in kept), self.values[kept], trials)

    def up_to(self, block: int) -> BlockTable:
        """Of rounds: those of the first blocks."""
        if self.trials is None:
            raise ValueError("rows of whole blocks have no trials to go by")
        kept = self.trials <= block
        numbers = tuple(itertools.compress(self.blocks, kept.tolist()))
        return BlockTable(numbers, self.values[kept], self.trials[kept])

    def by_trial(self) -> BlockTable:
        """A row for each trial: the mean of its rounds."""
        if self.trials is None:
            return self
        blocks = np.unique(self.trials).tolist()
        means = [self.values[self.trials == block].mean(axis=0) for block in blocks]
        values = np.array(means, dtype=np.float64).reshape(-1, self.values.shape[1])
        return BlockTable(tuple(blocks), values)

    def of_trials_that_tell(self) -> BlockTable:
        """Without trials of so few rounds that their spread is not known; all, if none has more.

        One short trial would else leave all others without an interval.
        """
        if self.trials is None:
            return self
        rounds = np.bincount(self.trials)
        enough = rounds >= FEWEST_ROUNDS
        if np.array_equal(enough, rounds > 0) or not enough.any():
            return self
        kept = enough[self.trials]
        return self.only([block for block, keep in zip(self.blocks, kept, strict=True) if keep])


def block_table(
    metric: Metric, trials: Sequence[TrialMeasures], plan: Plan, step: float | None
) -> BlockTable:
    """Every block in which all arms ran; where they take turns on one server, every round in which
    all have a value. Servers of their own are each as lucky as their start for a whole trial, so of
    a duet a trial's rounds are one value, their mean."""
    if plan.alternates:
        rounds = round_table(metric, trials, plan)
        return rounds.by_trial() if plan.side_by_side else rounds
    blocks: dict[int, dict[str, float]] = {}
    for trial in trials:
        measures = trial.at(step)
        value = measures.values.get(metric.name, math.nan) if measures else math.nan
        if metric.scale == "ratio":
            value = math.log(value) if value > 0.0 else math.nan
        blocks.setdefault(trial.block, {})[trial.arm] = value if math.isfinite(value) else math.nan
    complete = {n: arms for n, arms in sorted(blocks.items()) if len(arms) == len(plan.arms)}
    rows = [[arms[arm.id] for arm in plan.arms] for arms in complete.values()]
    return BlockTable(tuple(complete), np.array(rows, dtype=np.float64).reshape(-1, len(plan.arms)))


Part = Literal["values", "early", "late"]


def round_table(
    metric: Metric, trials: Sequence[TrialMeasures], plan: Plan, part: Part = "values"
) -> BlockTable:
    """Every round of slices in which all arms have a value, of the slices' part asked for.

    What that leaves out is told by `round_doubts.py`.
    """
    return all_rounds(metric, trials, plan, part).of_trials_that_tell()


def all_rounds(
    metric: Metric, trials: Sequence[TrialMeasures], plan: Plan, part: Part = "values"
) -> BlockTable:
    """The same, of trials that have too few rounds to tell their spread as well."""
    arms = tuple(arm.id for arm in plan.arms)
    # Rounds are numbered among all, so that those of two parts or metrics can be matched.
    numbers: list[int] = []
    blocks: list[int] = []
    rows: list[NDArray[np.float64]] = [np.empty((0, len(arms)))]
    before = 0
    for trial in trials:
        key = (metric.name, part, arms)
        kept = trial.rounds_kept.get(key)
        if kept is None:
            kept = trial.rounds_kept[key] = _rounds_of(trial, metric.name, part, arms)
        places, values = kept
        numbers += [before + place for place in places]
        blocks += [trial.block] * len(places)
        rows.append(values)
        before += -(-len(trial.turns) // len(arms))
    return BlockTable(tuple(numbers), np.concatenate(rows), np.array(blocks, dtype=np.int64))


def _rounds_of(
    trial: TrialMeasures, name: str, part: Part, arms: Sequence[str]
) -> tuple[list[int], NDArray[np.float64]]:
    """The rounds of one trial in which every arm has a value: their places, counted from 1, and
    the logarithms of the values."""
    found = [(turn.arm, getattr(turn, part).get(name, 0.0)) for turn in trial.turns]
    places: list[int] = []
    rows: list[list[float]] = []
    for place, first in enumerate(range(0, len(found), len(arms)), start=1):
        round_ = dict(found[first : first + len(arms)])
        # Every value of a slice is a rate or a time: nothing happened where it is zero.
        if len(round_) == len(arms) and min(round_.values()) > 0.0:
            places.append(place)
            rows.append([math.log(round_[arm]) for arm in arms])
    return places, np.array(rows, dtype=np.float64).reshape(-1, len(arms))


def mean_over(plan: Plan, held: Mapping[str, str]) -> Vector:
    """Weights of the mean over all arms that have these levels, the other factors averaged.

    With one factor changed at a time there is nothing to average over: the others are at their
    baselines.
    """
    if plan.combinations == "one-at-a-time":
        held = {**{factor.name: factor.baseline for factor in plan.factors}, **held}
    wanted = held.items()
    has = [wanted <= arm.levels.items() for arm in plan.arms]
    return np.array(has, dtype=np.float64) / max(1, sum(has))


def main_effect(plan: Plan, factor: Factor, level: str) -> Vector:
    """A level against its factor's baseline."""
    return mean_over(plan, {factor.name: level}) - mean_over(plan, {factor.name: factor.baseline})


def simple_effect(plan: Plan, factor: Factor, level: str, held: Mapping[str, str]) -> Vector:
    """A level against its factor's baseline where other factors have these levels."""
    return mean_over(plan, {**held, factor.name: level}) - mean_over(
        plan, {**held, factor.name: factor.baseline}
    )


def interaction(plan: Plan, factor: Factor, level: str, other: Factor, at: str) -> Vector:
    """How much the level's effect at one level of another factor exceeds that at its baseline."""
    return simple_effect(plan, factor, level, {other.name: at}) - simple_effect(
        plan, factor, level, {other.name: other.baseline}
    )


def slope(plan: Plan, factor: Factor, scores: Sequence[float]) -> Vector:
    """The least-squares slope of the levels' means over their scores."""
    centred = np.array(scores) - np.mean(scores)
    means = [mean_over(plan, {factor.name: level}) for level in factor.levels]
    weights: Vector = centred @ np.array(means) / float(centred @ centred)
    return weights
