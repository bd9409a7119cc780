"""What an A/A switchback or duet says: how rounds of slices scatter, and what that lets it find.

Enters: the plan of an A/A run in which both labels take turns, its trials. Leaves: a `TurnNoise`,
the outlook and the advice for the switchback or duet that it is for. Never: judges the host.

In a switchback the noise of whole trials is known from the same run, for all of them are of one arm
on one server: so what the same experiment would take in blocks is told beside it. In a duet every
trial has the luck of two starts in the difference of its servers; that is the unit, and what rounds
do not explain of its scatter tells longer trials from more of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.analyse import rule_of
from pgassay.analysis.calibration import (
    FEWEST_BLOCKS,
    advised_within,
    lengths_to_try,
    optimum_s,
    quickest,
)
from pgassay.analysis.calibration_model import Advice, Outlook, TurnFloor, TurnNoise
from pgassay.analysis.contrasts import BlockTable, main_effect, round_table
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.noise import spread_interval
from pgassay.analysis.power import Spreading, blocks_for, difference_sd, outlook
from pgassay.analysis.rounds import FEWEST_TRIALS, by_block, spread_of_rounds
from pgassay.plan.model import Plan
from pgassay.plan.modes import LEAST_TRIALS
from pgassay.plan.turns import FEWEST_ROUNDS

Array = NDArray[Any]


def whole_trials(plan: Plan, trials: Sequence[TrialMeasures]) -> BlockTable:
    """Every trial's own figure: they are all of one arm."""
    values = {trial.block: trial.whole.values.get(plan.metric, 0.0) for trial in trials}
    rows = {block: math.log(value) for block, value in sorted(values.items()) if value > 0.0}
    return BlockTable(tuple(rows), np.array(list(rows.values())).reshape(-1, 1))


def turn_noise(plan: Plan, trials: Sequence[TrialMeasures]) -> TurnNoise | None:
    """None where rounds are too few, or do not differ."""
    found = _differences(plan, trials)
    scatter = None if found is None else _scatter(plan, *found)
    if found is None or scatter is None:
        return None
    values, of_trial = found
    blocks = np.unique(of_trial)
    rest = values - by_block(values, of_trial)[np.searchsorted(blocks, of_trial)]
    return TurnNoise(
        rounds=len(values),
        trials=len(blocks),
        round_sd=math.sqrt(float(rest @ rest) / (len(values) - len(blocks))),
        trial_sd=scatter.trial_sd,
        units=scatter.units,
        trial_sd_ci95=scatter.interval,
        start_sd=scatter.start_sd if plan.side_by_side else None,
    )


@dataclass(frozen=True)
class _Scatter:
    """Of a trial's mean of the differences of two arms."""

    trial_sd: float
    rounds_sd: float
    """The part of it that its rounds explain."""
    units: float
    """Independent differences that a trial is worth."""
    interval: tuple[float, float] | None
    """95 %, of `trial_sd`."""

    @property
    def start_sd(self) -> float:
        return math.sqrt(max(0.0, self.trial_sd**2 - self.rounds_sd**2))


def _scatter(plan: Plan, values: Array, of_trial: Array) -> _Scatter | None:
    """None where trials or rounds are too few, or do not differ."""
    trials_seen = len(np.unique(of_trial))
    spread = spread_of_rounds(values, of_trial)
    if spread.error is None or spread.inside is None:
        return None
    rounds_sd = spread.inside * math.sqrt(trials_seen)
    seen_sd = float(np.std(by_block(values, of_trial), ddof=1)) if trials_seen > 1 else 0.0
    interval = spread_interval(seen_sd, trials_seen - 1.0) if seen_sd > 0.0 else None
    if not plan.side_by_side:
        trial_sd = spread.error * math.sqrt(trials_seen)
        if interval is not None:
            # What is told is the greater of two estimates, which no chi-square goes with: so the
            # interval is that of the trials' own scatter, and what is told lies in it.
            interval = min(interval[0], trial_sd), max(interval[1], trial_sd)
        return _Scatter(trial_sd, rounds_sd, spread.units / trials_seen, interval)
    # The unit is the trial: its start's luck is in it.
    if trials_seen < FEWEST_TRIALS:
        return None
    return _Scatter(seen_sd, min(rounds_sd, seen_sd), 1.0, interval)


def turn_floor(plan: Plan, trials: Sequence[TrialMeasures]) -> TurnFloor | None:
    """What a run of two arms in turn tells later ones; None of more arms, or of too few trials."""
    if len(plan.arms) != 2 or plan.trials[0].slice_s is None:
        return None
    found = _differences(plan, trials)
    scatter = None if found is None else _scatter(plan, *found)
    if found is None or scatter is None:
        return None
    return TurnFloor(
        mode=plan.mode,
        metric=plan.metric,
        slice_s=plan.trials[0].slice_s,
        measured_s=plan.measured_s,
        trials=len(np.unique(found[1])),
        trial_sd=scatter.trial_sd,
        rounds_sd=scatter.rounds_sd,
        units=scatter.units,
    )


def _differences(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[Array, Array] | None:
    """Of the rounds, and the trial that each is of; None without whole rounds."""
    table = round_table(METRICS[plan.metric], trials, plan)
    if table.trials is None or not table.blocks:
        return None
    (factor,) = plan.factors
    return table.of(main_effect(plan, factor, factor.levels[1])), table.trials


def expected_of_turns(noise: TurnNoise, experiment: Plan) -> Outlook:
    """What the switchback or duet would find with such noise."""
    spread = spreading(noise.trial_sd, noise.units, experiment, noise.start_sd or 0.0)
    return outlook(rule_of(experiment), spread, experiment.min_blocks, experiment.max_blocks)


def advise_turns(noise: TurnNoise, experiment: Plan, overhead_s: float) -> Advice | None:
    """How many trials decide: of this length, and of a duet the quickest; None where too many."""
    now_s, rule = experiment.measured_s, rule_of(experiment)
    usual = FEWEST_BLOCKS if noise.start_sd is not None else LEAST_TRIALS
    least = usual if experiment.stops == "fixed" else max(experiment.min_blocks, usual)
    most = max(advised_within(experiment), least)
    lengths, optimum = [now_s], None
    if noise.start_sd is not None and noise.tells_lengths:
        rounds_s = len(experiment.arms) * FEWEST_ROUNDS * _longest_slice_s(experiment)
        lengths = lengths_to_try(now_s, rounds_s)
        rounds_sd = math.sqrt(max(0.0, noise.trial_sd**2 - noise.start_sd**2))
        optimum = optimum_s(noise.start_sd, rounds_sd * math.sqrt(now_s), overhead_s)
    tried: list[Advice] = []
    for length in lengths:
        trial_sd = noise.trial_sd_at(length, now_s)
        spread = spreading(trial_sd, noise.units, experiment, noise.start_sd or 0.0)
        trials = blocks_for(rule, spread, least, most)
        if trials is not None:
            tried.append(Advice(length, trials, trials * (length + overhead_s), optimum))
    return quickest(tried, now_s)


def _longest_slice_s(plan: Plan) -> float:
    return max(trial.slice_s or 0.0 for trial in plan.trials)


def overhead_with(arms: int, overhead_s: float, plan: Plan) -> float:
    """Of a duet's trial, out of one of two arms: servers are reset one after another, and warmed up
    all at once."""
    warmup_s = sum(step.duration_s for step in plan.steps if not step.measured)
    return overhead_s + max(0.0, overhead_s - warmup_s) * (arms - 2) / 2.0


def spreading(trial_sd: float, units: float, experiment: Plan, start_sd: float = 0.0) -> Spreading:
    """Of the experiment's own arms, out of two arms' differences: more arms have fewer rounds in a
    trial, and each start the same luck."""
    arms = len(experiment.arms)
    rounds = max(0.0, trial_sd**2 - start_sd**2)
    of_one_arm = math.sqrt((start_sd**2 + rounds * arms / 2.0) / 2.0)
    return Spreading(difference_sd(experiment, of_one_arm), max(1.0, units * 2.0 / arms))
