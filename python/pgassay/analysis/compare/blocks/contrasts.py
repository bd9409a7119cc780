"""Contrasts: one number per block, a weighted sum over its arms.

Enters: a plan's arms, trial measures or a vector per trial. Leaves: a table of complete blocks, the
weights of main effects, interactions and slopes, pairs of levels. Never: infers anything.

The weights of a contrast sum to zero, so whatever the trials of a block share cancels
(docs/methods/verdicts.md, "Several factors").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import FEWEST_ROUNDS
from pgassay.analysis.compare.alternating.turns import Turns
from pgassay.analysis.compare.blocks.coarse_counts import Counts
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import Metric
from pgassay.plan.model import Factor, Plan

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BlockTable:
    """The complete blocks of one metric: a row each, a column per arm of the plan."""

    blocks: tuple[int, ...]
    values: NDArray[np.float64]
    """Logarithms where ratios are compared, else plain values; NaN where a trial has none."""
    trials: NDArray[np.int64] | None = None
    """Of a switchback, whose rows are rounds: the block of each row."""
    positions: NDArray[np.int64] | None = None
    """The place, from 1, at which each arm ran in each block; None where it has no meaning."""
    known: NDArray[np.bool_] | None = None
    """Which values are known, where `known_for` has replaced others by zero; None if all are."""
    turns: Turns | None = None
    """Of a switchback: the order of arms in all its trials, whichever rows are left."""
    counts: Counts | None = None
    """Of throughput: what it was counted from."""
    resolution: float = 0.0
    """What the measurement of a value cannot tell apart, in logarithms."""

    def of(self, weights: Vector) -> Vector:
        """Returns one number per row, summed in the same order, so equal rows give equal
        numbers."""
        summed: Vector = (self.values * weights).sum(axis=1)
        return summed

    def known_for(self, weights: Vector) -> BlockTable:
        """Keeps the rows in which every arm of a contrast has a value.

        So an idle arm removes blocks only from its own contrasts.
        """
        known = np.isfinite(self.values)
        if known.all():
            return self
        kept = np.flatnonzero(known[:, weights != 0.0].all(axis=1))
        table = replace(self, values=np.where(known, self.values, 0.0), known=known)
        return table._rows(kept.tolist())

    def complete(self) -> BlockTable:
        """Keeps the rows in which every arm has a value."""
        return self.known_for(np.ones(self.values.shape[1]))

    def only(self, blocks: Sequence[int]) -> BlockTable:
        """Keeps the rows of these blocks."""
        wanted = set(blocks)
        kept = [at for at, block in enumerate(self.blocks) if block in wanted]
        if len(kept) == len(self.blocks):
            return self
        return self._rows(kept)

    def up_to(self, block: int) -> BlockTable:
        """Keeps the rows of the first blocks."""
        of_row = np.array(self.blocks, dtype=np.int64) if self.trials is None else self.trials
        return self._rows(np.flatnonzero(of_row <= block).tolist())

    def _rows(self, kept: list[int]) -> BlockTable:
        return replace(
            self,
            blocks=tuple(self.blocks[at] for at in kept),
            values=self.values[kept],
            trials=None if self.trials is None else self.trials[kept],
            positions=None if self.positions is None else self.positions[kept],
            known=None if self.known is None else self.known[kept],
            counts=None if self.counts is None else self.counts.rows(kept),
        )

    def by_trial(self) -> BlockTable:
        """Averages the rounds of each trial into one row."""
        if self.trials is None:
            return self
        blocks = np.unique(self.trials).tolist()
        means = [self.values[self.trials == block].mean(axis=0) for block in blocks]
        values = np.array(means, dtype=np.float64).reshape(-1, self.values.shape[1])
        return BlockTable(tuple(blocks), values)

    def with_enough_rounds(self) -> BlockTable:
        """Drops trials that have too few rounds to estimate their spread; none if all have too few.

        Otherwise one short trial would leave all others without an interval.
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
    """Tabulates every block in which all its arms ran; of a switchback every round in which all
    have a value.

    Arms that the run has dropped have no value (NaN) in later blocks.

    In a duet each server's start affects all rounds of its trial, so a trial is one row, their
    mean.
    """
    if plan.alternates:
        rounds = round_table(metric, trials, plan)
        if plan.side_by_side:
            return rounds.by_trial()
        return replace(rounds, turns=Turns.of(plan, trials))
    blocks: dict[int, dict[str, float]] = {}
    order: dict[int, list[tuple[int, str]]] = {}
    for trial in trials:
        measures = trial.at(step)
        value = measures.values.get(metric.name, math.nan) if measures else math.nan
        if metric.scale == "ratio":
            value = math.log(value) if value > 0.0 else math.nan
        blocks.setdefault(trial.block, {})[trial.arm] = value if math.isfinite(value) else math.nan
        order.setdefault(trial.block, []).append((trial.position, trial.arm))
    complete = {n: arms for n, arms in sorted(blocks.items()) if len(arms) == plan.sizes[n]}
    rows = [[arms.get(arm.id, math.nan) for arm in plan.arms] for arms in complete.values()]
    values = np.array(rows, dtype=np.float64).reshape(-1, len(plan.arms))
    counts = None
    if metric.name == "tps":
        parts = {(t.block, t.arm): t.at(step) for t in trials}
        counts = Counts([[parts.get((n, arm.id)) for arm in plan.arms] for n in complete])
    positions = None
    # What a cost adds at a position depends on the arm (none where an arm has none of it).
    if metric.scale == "ratio":
        ranked = [[arm for _, arm in sorted(order[block])] for block in complete]
        # Zero is the place of an arm that the block does not have.
        found = [{arm: at for at, arm in enumerate(ran, start=1)} for ran in ranked]
        places = [[own.get(arm.id, 0) for arm in plan.arms] for own in found]
        positions = np.array(places, dtype=np.int64).reshape(values.shape)
    return BlockTable(
        tuple(complete), values, positions=positions, counts=counts, resolution=metric.resolution
    )


Part = Literal["values", "early", "late"]


def round_table(
    metric: Metric, trials: Sequence[TrialMeasures], plan: Plan, part: Part = "values"
) -> BlockTable:
    """Tabulates every round in which all arms have a value, of trials with enough rounds.

    `part` is the whole slice, or its early or late part. `idle_rounds.py` reports what is left out.
    """
    return all_rounds(metric, trials, plan, part).with_enough_rounds()


def all_rounds(
    metric: Metric, trials: Sequence[TrialMeasures], plan: Plan, part: Part = "values"
) -> BlockTable:
    """Tabulates rounds as `round_table` does, those of trials with few rounds included."""
    arms = tuple(arm.id for arm in plan.arms)
    # Rounds are numbered over all trials, so that two parts or metrics can be matched.
    numbers: list[int] = []
    blocks: list[int] = []
    rows: list[NDArray[np.float64]] = [np.empty((0, len(arms)))]
    before = 0
    for trial in trials:
        places, values = _rounds_of(trial, metric.name, part, arms)
        numbers += [before + place for place in places]
        blocks += [trial.block] * len(places)
        rows.append(values)
        before += -(-len(trial.turns) // len(arms))
    return BlockTable(tuple(numbers), np.concatenate(rows), np.array(blocks, dtype=np.int64))


def _rounds_of(
    trial: TrialMeasures, name: str, part: Part, arms: Sequence[str]
) -> tuple[list[int], NDArray[np.float64]]:
    """The rounds of one trial in which every arm has a value.

    Their places, counted from 1, and the logarithms of the values.
    """
    key = (name, part, tuple(arms))
    if key not in trial.worked_out:
        trial.worked_out[key] = _new_rounds_of(trial, name, part, arms)
    known: tuple[list[int], NDArray[np.float64]] = trial.worked_out[key]
    return known


def _new_rounds_of(
    trial: TrialMeasures, name: str, part: Part, arms: Sequence[str]
) -> tuple[list[int], NDArray[np.float64]]:
    found = [(turn.arm, getattr(turn, part).get(name, 0.0)) for turn in trial.turns]
    places: list[int] = []
    rows: list[list[float]] = []
    for place, first in enumerate(range(0, len(found), len(arms)), start=1):
        round_ = dict(found[first : first + len(arms)])
        # Every value of a slice is a rate or a time: zero means that nothing happened.
        if len(round_) == len(arms) and min(round_.values()) > 0.0:
            places.append(place)
            rows.append([math.log(round_[arm]) for arm in arms])
    return places, np.array(rows, dtype=np.float64).reshape(-1, len(arms))


def mean_over(plan: Plan, held: Mapping[str, str]) -> Vector:
    """Weights of the mean over all arms that have these levels, averaged over other factors.

    With one factor changed at a time the other factors stay at their baselines.
    """
    key = tuple(held.items())
    if key not in plan.worked_out:
        if plan.combinations == "one-at-a-time":
            held = {**{factor.name: factor.baseline for factor in plan.factors}, **held}
        wanted = held.items()
        has = [wanted <= arm.levels.items() for arm in plan.arms]
        plan.worked_out[key] = np.array(has, dtype=np.float64) / max(1, sum(has))
    found: Vector = plan.worked_out[key]
    return found


def main_effect(plan: Plan, factor: Factor, level: str) -> Vector:
    """Weighs a level against its factor's baseline."""
    return mean_over(plan, {factor.name: level}) - mean_over(plan, {factor.name: factor.baseline})


def simple_effect(plan: Plan, factor: Factor, level: str, held: Mapping[str, str]) -> Vector:
    """Weighs a level against its factor's baseline where other factors have these levels."""
    return mean_over(plan, {**held, factor.name: level}) - mean_over(
        plan, {**held, factor.name: factor.baseline}
    )


def interaction(plan: Plan, factor: Factor, level: str, other: Factor, at: str) -> Vector:
    """Weighs the level's effect where `other` is `at`, less that where `other` is at its
    baseline."""
    return simple_effect(plan, factor, level, {other.name: at}) - simple_effect(
        plan, factor, level, {other.name: other.baseline}
    )


def slope(plan: Plan, factor: Factor, scores: Sequence[float]) -> Vector:
    """Weighs the arms for the least-squares slope of the levels' means over their scores."""
    centred = np.array(scores) - np.mean(scores)
    means = [mean_over(plan, {factor.name: level}) for level in factor.levels]
    weights: Vector = centred @ np.array(means) / float(centred @ centred)
    return weights


Vectors = Mapping[tuple[int, str], NDArray[np.float64]]
"""(block, arm) → vector, all of one length."""


@dataclass(frozen=True)
class Pairs:
    """One row per block, in the same order for both levels."""

    baseline: NDArray[np.float64]
    level: NDArray[np.float64]

    @property
    def differences(self) -> NDArray[np.float64]:
        return self.level - self.baseline


def pair_blocks(vectors: Vectors, plan: Plan, factor: Factor, level: str) -> Pairs | None:
    """Pairs both levels' rows; with several factors each is the mean over the arms that have the
    level.

    A block needs a vector of every arm of these means.
    """
    weights = {
        wanted: mean_over(plan, {factor.name: wanted}) for wanted in (factor.baseline, level)
    }
    needed = [
        place
        for place in range(len(plan.arms))
        if any(weight[place] for weight in weights.values())
    ]
    rows: dict[str, list[NDArray[np.float64]]] = {factor.baseline: [], level: []}
    for block in sorted({block for block, _ in vectors}):
        found = [vectors.get((block, plan.arms[place].id)) for place in needed]
        if any(vector is None or not np.all(np.isfinite(vector)) for vector in found):
            continue
        arms = np.array(found)
        for wanted, weight in weights.items():
            rows[wanted].append(weight[needed] @ arms)
    if not rows[level]:
        return None
    return Pairs(np.array(rows[factor.baseline]), np.array(rows[level]))
