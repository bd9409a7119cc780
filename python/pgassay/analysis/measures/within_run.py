"""What a trial is beside the others of its run: how far it varies, whether its block was run again.

Enters: the measured steps and intervals of a trial; the measures of all trials.
Leaves: the variation within a trial; the measures with each trial's distance from its arm's median,
with no parallel time where other trials had some, and those of a block's other servers as trials
that do not count. Never: says what makes it vary, or chooses a server by figures.

A server of a fleet that is lost leaves its block unfinished. The block is run again, whole, on
another server: arms of one block are compared with each other, and two servers differ by more than
the arms do. Which server counts rests on how many arms it has run.

The distance from the median makes the spread among trials a figure of each trial, so that arms can
be compared by it over blocks like by any other (Brown and Forsythe, Journal of the American
Statistical Association 69, 1974).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pgassay.analysis.measures.model import StepMeasures, TrialMeasures
from pgassay.analysis.reading.metrics import PARALLEL, UNACCOUNTED
from pgassay.notes import Note
from pgassay.samples.forms.trial import Step

if TYPE_CHECKING:
    import pyarrow as pa

_FEWEST_INTERVALS = 5
"""Of a step, for a standard deviation."""
_FEWEST_TRIALS = 4
"""Of an arm: with two, both are as far from their median; of three one always lies on it."""


def throughput_variation(steps: Sequence[Step], rows: pa.Table) -> float | None:
    """The coefficient of variation of throughput by interval, in per cent.

    Over each step, averaged by intervals; without intervals that are cut or lie beside a gap.
    """
    by_start = rows.group_by(["step", "start_ns"], use_threads=False).aggregate(
        [("transactions", "sum")]
    )
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


RUN_AGAIN = Note("trials/run/run-again")


def of_one_server(trials: Sequence[TrialMeasures]) -> list[TrialMeasures]:
    """Marks trials of a block's other servers, in their order; a marked trial is not marked
    again."""
    servers: dict[int, dict[str, list[TrialMeasures]]] = {}
    for trial in trials:
        servers.setdefault(trial.block, {}).setdefault(trial.server, []).append(trial)
    kept = {block: _kept(found) for block, found in servers.items() if len(found) > 1}
    return [
        trial
        if trial.server == kept.get(trial.block, trial.server) or is_left_out(trial)
        else replace(trial, invalid=(*trial.invalid, RUN_AGAIN))
        for trial in trials
    ]


def is_left_out(trial: TrialMeasures) -> bool:
    """Whether another server has run its block."""
    return RUN_AGAIN in trial.invalid


def _kept(found: dict[str, list[TrialMeasures]]) -> str:
    """The server that ran most arms; of several the one that began last."""

    def rank(server: str) -> tuple[int, int]:
        own = found[server]
        return len({one.arm for one in own if not one.invalid}), max(one.number for one in own)

    return max(found, key=rank)
