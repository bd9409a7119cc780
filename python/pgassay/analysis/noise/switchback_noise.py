"""The noise of a switchback or duet, and what it can detect with it.

Enters: the plan of an A/A switchback or duet, its trials. Leaves: a `SwitchbackNoise`, the outlook
and the advice for its experiment. Never: judges the host.

All trials of an A/A switchback are of one arm on one server, so it also gives the noise of whole
trials, and what the experiment would take in blocks. In a duet a trial's difference contains the
two server starts; the trial is the unit, and the scatter that rounds do not explain says whether
longer trials or more trials help.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.compare.alternating.rounds import FEWEST_TRIALS, by_block, spread_of_rounds
from pgassay.analysis.compare.blocks.contrasts import BlockTable, main_effect, round_table
from pgassay.analysis.compare.rule import rule_of
from pgassay.analysis.compare.simulated_runs import Spreading
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.noise.model import Advice, Outlook, SwitchbackFloor, SwitchbackNoise
from pgassay.analysis.noise.power import blocks_for, difference_sd, outlook
from pgassay.analysis.noise.trial_length import (
    FEWEST_BLOCKS,
    advised_within,
    lengths_to_try,
    optimum_s,
    quickest,
)
from pgassay.analysis.noise.trial_noise import spread_interval
from pgassay.analysis.reading.metrics import METRICS
from pgassay.plan.model import Plan
from pgassay.plan.modes import LEAST_TRIALS
from pgassay.plan.switchback import FEWEST_ROUNDS

Array = NDArray[Any]


def whole_trials(plan: Plan, trials: Sequence[TrialMeasures]) -> BlockTable:
    """A table of whole trials, which are all of one arm."""
    values = {trial.block: trial.whole.values.get(plan.metric, 0.0) for trial in trials}
    rows = {block: math.log(value) for block, value in sorted(values.items()) if value > 0.0}
    return BlockTable(tuple(rows), np.array(list(rows.values())).reshape(-1, 1))


def switchback_noise(plan: Plan, trials: Sequence[TrialMeasures]) -> SwitchbackNoise | None:
    """The noise; None with too few rounds, or rounds that do not differ."""
    found = _differences(plan, trials)
    scatter = None if found is None else _scatter(plan, *found)
    if found is None or scatter is None:
        return None
    values, of_trial = found
    blocks = np.unique(of_trial)
    rest = values - by_block(values, of_trial)[np.searchsorted(blocks, of_trial)]
    return SwitchbackNoise(
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
    """The scatter of a trial's mean difference of two arms."""

    trial_sd: float
    rounds_sd: float
    """The part of `trial_sd` that its rounds explain."""
    units: float
    """How many independent differences a trial is worth."""
    interval: tuple[float, float] | None
    """The 95 % interval of `trial_sd`."""

    @property
    def start_sd(self) -> float:
        return math.sqrt(max(0.0, self.trial_sd**2 - self.rounds_sd**2))


def _scatter(plan: Plan, values: Array, of_trial: Array) -> _Scatter | None:
    """None with too few trials or rounds, or rounds that do not differ."""
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
            # `trial_sd` is the greater of two estimates, so no chi-square applies to it: take the
            # interval of the trials' own scatter, extended to include `trial_sd`.
            interval = min(interval[0], trial_sd), max(interval[1], trial_sd)
        return _Scatter(trial_sd, rounds_sd, spread.units / trials_seen, interval)
    # The unit is the trial, which contains the effect of its starts.
    if trials_seen < FEWEST_TRIALS:
        return None
    return _Scatter(seen_sd, min(rounds_sd, seen_sd), 1.0, interval)


def switchback_floor(plan: Plan, trials: Sequence[TrialMeasures]) -> SwitchbackFloor | None:
    """Returns the noise that later runs can use; None with more than two arms, or too few
    trials."""
    if len(plan.arms) != 2 or plan.trials[0].slice_s is None:
        return None
    found = _differences(plan, trials)
    scatter = None if found is None else _scatter(plan, *found)
    if found is None or scatter is None:
        return None
    return SwitchbackFloor(
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
    """The differences of rounds, and the trial of each; None without whole rounds."""
    table = round_table(METRICS[plan.metric], trials, plan)
    if table.trials is None or not table.blocks:
        return None
    (factor,) = plan.factors
    return table.of(main_effect(plan, factor, factor.levels[1])), table.trials


def expected_of_switchback(noise: SwitchbackNoise, experiment: Plan) -> Outlook:
    """Forecasts what the switchback or duet can be expected to find with such noise."""
    spread = spreading(noise.trial_sd, noise.units, experiment, noise.start_sd or 0.0)
    return outlook(rule_of(experiment), spread, experiment.min_blocks, experiment.max_blocks)


def advise_switchback(noise: SwitchbackNoise, experiment: Plan, overhead_s: float) -> Advice | None:
    """Advises how many trials decide, and of a duet how long they should be; None where too
    many."""
    now_s, rule = experiment.measured_s, rule_of(experiment)
    usual = FEWEST_BLOCKS if noise.start_sd is not None else LEAST_TRIALS
    least = usual if experiment.stops == "fixed" else max(experiment.min_blocks, usual)
    most = max(advised_within(experiment), least)
    lengths, optimum = [now_s], None
    if noise.start_sd is not None and noise.advises_lengths:
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
    """The overhead of a duet's trial with more arms: resets are sequential, warm-up is shared."""
    warmup_s = sum(step.duration_s for step in plan.steps if not step.measured)
    return overhead_s + max(0.0, overhead_s - warmup_s) * (arms - 2) / 2.0


def spreading(trial_sd: float, units: float, experiment: Plan, start_sd: float = 0.0) -> Spreading:
    """The scatter of the experiment's contrasts, from that of two arms.

    More arms have fewer rounds in a trial; the effect of a start stays the same.
    """
    arms = len(experiment.arms)
    rounds = max(0.0, trial_sd**2 - start_sd**2)
    of_one_arm = math.sqrt((start_sd**2 + rounds * arms / 2.0) / 2.0)
    return Spreading(difference_sd(experiment, of_one_arm), max(1.0, units * 2.0 / arms))
