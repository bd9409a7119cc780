"""What a trial is beside the others of its run: how much throughput varies, parallel workers.

Enters: the measured steps and intervals of a trial; the measures of all trials.
Leaves: the variation within a trial; the measures with each trial's distance from its arm's median,
and with no parallel time where other trials had some.
Never: says what makes it vary.

The distance from the median makes the spread among trials a figure of each trial, so that arms can
be compared by it over blocks like by any other (Brown and Forsythe, Journal of the American
Statistical Association 69, 1974).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.analysis.reading.metrics import PARALLEL, UNACCOUNTED
from pgassay.samples.forms.trial import Step

_FEWEST_INTERVALS = 5
"""Of a step, for a standard deviation."""
_FEWEST_TRIALS = 4
"""Of an arm: with two, both are as far from their median; of three one always lies on it."""


def throughput_variation(steps: Sequence[Step], rows: pa.Table) -> float | None:
    """The coefficient of variation of throughput by interval, in per cent.

    Over each step, averaged by intervals; without intervals that are cut or lie beside a gap.
    """
    by_start = rows.group_by(["step", "start_ns"]).aggregate([("transactions", "sum")])
    by_start = by_start.sort_by("start_ns")
    of_step, starts, done = (
        by_start[name].to_numpy() for name in ("step", "start_ns", "transactions_sum")
    )
    found: list[tuple[float, int]] = []
    for step in steps:
        own = of_step == step.index
        lengths = np.diff(np.r_[starts[own], step.end_ns])
        if len(lengths) < _FEWEST_INTERVALS:
            continue
        usual = np.abs(lengths / np.median(lengths) - 1.0) < 0.1
        rates = done[own][usual] / lengths[usual]
        if len(rates) >= _FEWEST_INTERVALS and rates.mean() > 0.0:
            found.append((100.0 * float(rates.std(ddof=1) / rates.mean()), len(rates)))
    if not found:
        return None
    values, weights = zip(*found, strict=True)
    return float(np.average(values, weights=weights))


def with_deviations(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """The trials, with how far each one's throughput lies from the median of its arm."""
    logs: dict[str, list[float]] = {}
    for trial in trials:
        tps = trial.whole.values.get("tps", 0.0)
        if tps > 0.0:
            logs.setdefault(trial.arm, []).append(math.log(tps))
    enough = bool(logs) and min(map(len, logs.values())) >= _FEWEST_TRIALS
    if not enough:
        return list(trials)
    medians = {arm: float(np.median(values)) for arm, values in logs.items()}
    return [_with_deviation(trial, medians) for trial in trials]


def _with_deviation(trial: TrialMeasures, medians: Mapping[str, float]) -> TrialMeasures:
    tps = trial.whole.values.get("tps", 0.0)
    if tps <= 0.0:
        return trial
    away = 100.0 * abs(math.log(tps) - medians[trial.arm])
    values = {**trial.whole.values, "tps_deviation": away}
    return replace(trial, whole=replace(trial.whole, values=values))


def with_parallel_time(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """Zero for trials that had none, where some trial had some."""
    if not any(PARALLEL.metric in one.values for each in trials for one in _all(each)):
        return list(trials)
    return [
        replace(one, whole=_known(one.whole), steps=tuple(map(_known, one.steps))) for one in trials
    ]


def _all(trial: TrialMeasures) -> tuple[StepMeasures, ...]:
    return trial.whole, *trial.steps


def _known(step: StepMeasures) -> StepMeasures:
    """Where sessions were sampled, which the time unaccounted tells."""
    if UNACCOUNTED.metric not in step.values:
        return step
    return replace(step, values={PARALLEL.metric: 0.0, **step.values})
