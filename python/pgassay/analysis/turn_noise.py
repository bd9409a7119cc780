"""What an A/A switchback says: how rounds of slices scatter, and what that lets a switchback find.

Enters: the plan of an A/A run in which both labels take turns, its trials. Leaves: a `TurnNoise`,
the outlook and the advice for the switchback that it is for. Never: judges the host.

The noise of whole trials is known from the same run, for all of them are of one arm: so what the
same experiment would take in blocks is told beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pgassay.analysis.analyse import rule_of
from pgassay.analysis.calibration_model import Advice, Outlook, TurnNoise
from pgassay.analysis.contrasts import BlockTable, main_effect, round_table
from pgassay.analysis.metrics import METRICS
from pgassay.analysis.model import TrialMeasures
from pgassay.analysis.power import Spreading, blocks_for, difference_sd, outlook
from pgassay.analysis.rounds import spread_of_rounds
from pgassay.plan.model import Plan

_MOST_TRIALS = 200
"""Beyond this a switchback is not advised."""


def whole_trials(plan: Plan, trials: Sequence[TrialMeasures]) -> BlockTable:
    """Every trial's own figure: they are all of one arm."""
    values = {trial.block: trial.whole.values.get(plan.metric, 0.0) for trial in trials}
    rows = {block: math.log(value) for block, value in sorted(values.items()) if value > 0.0}
    return BlockTable(tuple(rows), np.array(list(rows.values())).reshape(-1, 1))


def turn_noise(plan: Plan, trials: Sequence[TrialMeasures]) -> TurnNoise | None:
    """None where rounds are too few, or do not differ."""
    table = round_table(METRICS[plan.metric], trials, plan)
    if table.trials is None or not table.blocks:
        return None
    (factor,) = plan.factors
    values = table.of(main_effect(plan, factor, factor.levels[1]))
    spread = spread_of_rounds(values, table.trials)
    if spread.error is None:
        return None
    blocks = np.unique(table.trials)
    means = np.array([values[table.trials == block].mean() for block in blocks])
    rest = values - means[np.searchsorted(blocks, table.trials)]
    return TurnNoise(
        rounds=len(values),
        trials=len(blocks),
        round_sd=math.sqrt(float(rest @ rest) / (len(values) - len(blocks))),
        trial_sd=spread.error * math.sqrt(len(blocks)),
        units=spread.units / len(blocks),
    )


def expected_of_turns(noise: TurnNoise, experiment: Plan) -> Outlook:
    """What the switchback would find with such noise."""
    spread = _spreading(noise, experiment)
    return outlook(rule_of(experiment), spread, experiment.min_blocks, experiment.max_blocks)


def advise_turns(noise: TurnNoise, experiment: Plan, overhead_s: float) -> Advice | None:
    """How many trials of this length decide; None where too many."""
    spread, length = _spreading(noise, experiment), experiment.measured_s
    trials = blocks_for(rule_of(experiment), spread, experiment.min_blocks, _MOST_TRIALS)
    if trials is None:
        return None
    return Advice(length, trials, trials * (length + overhead_s), None)


def _spreading(noise: TurnNoise, experiment: Plan) -> Spreading:
    """Of the experiment's own arms: more of them have fewer rounds in a trial."""
    arms = len(experiment.arms)
    of_one_arm = noise.trial_sd / math.sqrt(2.0) * math.sqrt(arms / 2.0)
    return Spreading(difference_sd(experiment, of_one_arm), max(1.0, noise.units * 2.0 / arms))
