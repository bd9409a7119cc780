"""What an A/A switchback says: how rounds of slices scatter, and what that lets a switchback find.

Enters: the plan of an A/A run in which both labels take turns, its trials. Leaves: a `TurnNoise`,
the outlook and the advice for the switchback that it is for. Never: judges the host.

The noise of whole trials is known from the same run, for all of them are of one arm: so what the
same experiment would take in blocks is told beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.analyse import rule_of
from pgassay.analysis.calibration_model import Advice, Outlook, TurnFloor, TurnNoise
from pgassay.analysis.contrasts import BlockTable, main_effect, round_table
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.power import Spreading, blocks_for, difference_sd, outlook
from pgassay.analysis.rounds import FEWEST_TRIALS, by_block, spread_of_rounds
from pgassay.plan.model import Plan

Array = NDArray[Any]
_MOST_TRIALS = 200
"""Beyond this a switchback is not advised."""


def whole_trials(plan: Plan, trials: Sequence[TrialMeasures]) -> BlockTable:
    """Every trial's own figure: they are all of one arm."""
    values = {trial.block: trial.whole.values.get(plan.metric, 0.0) for trial in trials}
    rows = {block: math.log(value) for block, value in sorted(values.items()) if value > 0.0}
    return BlockTable(tuple(rows), np.array(list(rows.values())).reshape(-1, 1))


def turn_noise(plan: Plan, trials: Sequence[TrialMeasures]) -> TurnNoise | None:
    """None where rounds are too few, or do not differ."""
    found = _differences(plan, trials)
    if found is None:
        return None
    values, of_trial = found
    spread = spread_of_rounds(values, of_trial)
    if spread.error is None:
        return None
    blocks = np.unique(of_trial)
    means = np.array([values[of_trial == block].mean() for block in blocks])
    rest = values - means[np.searchsorted(blocks, of_trial)]
    return TurnNoise(
        rounds=len(values),
        trials=len(blocks),
        round_sd=math.sqrt(float(rest @ rest) / (len(values) - len(blocks))),
        trial_sd=spread.error * math.sqrt(len(blocks)),
        units=spread.units / len(blocks),
    )


def turn_floor(plan: Plan, trials: Sequence[TrialMeasures]) -> TurnFloor | None:
    """What a run of two arms in turn tells later ones; None of more arms, or of too few trials."""
    if len(plan.arms) != 2 or plan.trials[0].slice_s is None:
        return None
    found = _differences(plan, trials)
    if found is None:
        return None
    values, of_trial = found
    trials_seen = len(np.unique(of_trial))
    spread = spread_of_rounds(values, of_trial)
    if spread.error is None or spread.inside is None:
        return None
    rounds_sd, units = spread.inside * math.sqrt(trials_seen), spread.units / trials_seen
    trial_sd = spread.error * math.sqrt(trials_seen)
    if plan.side_by_side:
        # The unit is the trial: its start's luck is in it.
        if trials_seen < FEWEST_TRIALS:
            return None
        trial_sd, units = float(np.std(by_block(values, of_trial), ddof=1)), 1.0
    return TurnFloor(
        mode=plan.mode,
        metric=plan.metric,
        slice_s=plan.trials[0].slice_s,
        measured_s=plan.measured_s,
        trials=trials_seen,
        trial_sd=trial_sd,
        rounds_sd=min(rounds_sd, trial_sd),
        units=units,
    )


def _differences(plan: Plan, trials: Sequence[TrialMeasures]) -> tuple[Array, Array] | None:
    """Of the rounds, and the trial that each is of; None without whole rounds."""
    table = round_table(METRICS[plan.metric], trials, plan)
    if table.trials is None or not table.blocks:
        return None
    (factor,) = plan.factors
    return table.of(main_effect(plan, factor, factor.levels[1])), table.trials


def expected_of_turns(noise: TurnNoise, experiment: Plan) -> Outlook:
    """What the switchback would find with such noise."""
    spread = spreading(noise.trial_sd, noise.units, experiment)
    return outlook(rule_of(experiment), spread, experiment.min_blocks, experiment.max_blocks)


def advise_turns(noise: TurnNoise, experiment: Plan, overhead_s: float) -> Advice | None:
    """How many trials of this length decide; None where too many."""
    spread = spreading(noise.trial_sd, noise.units, experiment)
    length = experiment.measured_s
    trials = blocks_for(rule_of(experiment), spread, experiment.min_blocks, _MOST_TRIALS)
    if trials is None:
        return None
    return Advice(length, trials, trials * (length + overhead_s), None)


def spreading(trial_sd: float, units: float, experiment: Plan) -> Spreading:
    """Of the experiment's own arms, out of two arms' differences: more arms have fewer rounds in a
    trial."""
    arms = len(experiment.arms)
    of_one_arm = trial_sd / math.sqrt(2.0) * math.sqrt(arms / 2.0)
    return Spreading(difference_sd(experiment, of_one_arm), max(1.0, units * 2.0 / arms))
