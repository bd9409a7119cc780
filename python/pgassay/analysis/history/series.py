"""Runs of one experiment → their history.

Enters: runs in the order of time. Leaves: a `HistoryAnalysis`.
Never: mixes runs of other workloads or loads in, or compares runs with others than those before
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.apart.arms import CommonArm, match_arms, values_of
from pgassay.analysis.apart.compare import Question, compare_runs, measured_metrics
from pgassay.analysis.apart.conditions import condition_differences, reasons_against
from pgassay.analysis.apart.model import ApartRun, Side
from pgassay.analysis.history.levels import Shift, levels_of
from pgassay.analysis.history.model import Change, HistoryAnalysis, Judged, LeftOut, Series
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.statistics import special
from pgassay.analysis.statistics.values import Estimate, ratio_pct
from pgassay.notes import Note
from pgassay.plan.model import Gate
from pgassay.refusals.refusal import DirectoryRefused

Values = np.typing.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What is asked of a history beside its levels."""

    gates: tuple[Gate, ...] = ()
    latest: int = 1
    """How many of the last runs the gates judge."""


def history_of(found: Sequence[ApartRun], asked: Asked) -> HistoryAnalysis:
    """Makes the history of the runs that are like the last one.

    Raises DirectoryRefused where fewer than two are, and where arms alternate within trials.
    """
    runs, left_out = _alike(sorted(found, key=lambda run: run.trials[0].whole.start_ns))
    if len(runs) < 2:
        raise DirectoryRefused("history-of-one", found[-1].name if found else None)
    plan = runs[-1].plan
    sides = [Side(run.name, (run,)) for run in runs]
    matched = match_arms(sides)
    endpoints = tuple(one.metric for one in plan.endpoints)
    main = (plan.metric, *endpoints)
    beside = [metric.name for metric in measured_metrics(sides) if metric.name not in main]
    series = [
        *_series(sides, matched.common, main, 1.0),
        *_series(sides, matched.common, beside, 1.0 / max(1, len(beside) * len(matched.common))),
    ]
    return HistoryAnalysis(
        metric=plan.metric,
        endpoints=endpoints,
        smallest_effect=plan.smallest_effect,
        runs=tuple(runs),
        arms=() if matched.are_single else tuple(arm.label for arm in matched.common),
        left_out=tuple(left_out),
        series=tuple(series),
        judged=_judged(runs, asked, plan.metric) if asked.gates else None,
    )


def _alike(found: Sequence[ApartRun]) -> tuple[list[ApartRun], list[LeftOut]]:
    """The runs that ask the same of the same load as the last one, and the others."""
    runs, left_out = list[ApartRun](), list[LeftOut]()
    for run in found:
        reasons = reasons_against([Side("", (found[-1],)), Side("", (run,))])
        if not reasons and not _has_arms_of(run, found[-1]):
            reasons = [Note("analysis/history/other-arms")]
        if reasons:
            why = Note.of("analysis/apart/reasons", reasons=tuple(reasons))
            left_out.append(LeftOut(run.name, why))
        else:
            runs.append(run)
    return runs, left_out


def _has_arms_of(run: ApartRun, last: ApartRun) -> bool:
    """Whether both have one arm, or some arm in common."""
    matched = match_arms([Side("", (last,)), Side("", (run,))])
    return bool(matched.common)


def _series(
    sides: Sequence[Side], arms: Sequence[CommonArm], names: Sequence[str], share: float
) -> Iterator[Series]:
    for arm in arms:
        for metric in (METRICS[name] for name in names):
            by_run = [of_side[0] for of_side in values_of(sides, arm, metric, None)]
            places = [place for place, values in enumerate(by_run) if len(values)]
            if len(places) > 1:
                own = [by_run[place] for place in places]
                yield _one(sides, arm.label, metric, places, own, share)


def _one(
    sides: Sequence[Side],
    arm: str,
    metric: Metric,
    places: Sequence[int],
    values: Sequence[Values],
    share: float,
) -> Series:
    levels = levels_of([float(own.mean()) for own in values], share)
    to_unit = math.exp if metric.scale == "ratio" else float
    means = tuple(map(to_unit, levels.means))
    return Series(
        arm=arm,
        metric=metric.name,
        runs=tuple(places),
        points=tuple(_point(own, metric) for own in values),
        levels=levels,
        means=means,
        changes=tuple(
            _change(sides, arm, metric, places, means[at : at + 2], shift)
            for at, shift in enumerate(levels.shifts)
        ),
    )


def _point(values: Values, metric: Metric) -> Estimate:
    mean, number = float(values.mean()), len(values)
    to_unit = math.exp if metric.scale == "ratio" else float
    if number < 2:
        return Estimate(to_unit(mean), None, None)
    error = float(np.std(values, ddof=1)) / math.sqrt(number)
    reach = float(special.stdtrit(number - 1, 0.975)) * error
    if metric.scale == "ratio" and not ratio_is_known(reach):
        return Estimate(to_unit(mean), None, None)
    return Estimate(to_unit(mean), to_unit(mean - reach), to_unit(mean + reach))


def ratio_is_known(reach: float) -> bool:
    """Whether an interval of logarithms is narrow enough to say anything: within 100 times."""
    return reach < math.log(100.0)


def _change(
    sides: Sequence[Side],
    arm: str,
    metric: Metric,
    places: Sequence[int],
    means: Sequence[float],
    shift: Shift,
) -> Change:
    is_percent = metric.scale == "ratio"
    to_unit = ratio_pct if is_percent else float
    before, latest = places[shift.earliest - 1], places[shift.latest]
    return Change(
        arm=arm,
        metric=metric.name,
        shift=shift,
        first=places[shift.at],
        earliest=places[shift.earliest],
        latest=latest,
        before=means[0],
        after=means[1],
        change=Estimate(*map(to_unit, (shift.difference, shift.low, shift.high))),
        is_percent=is_percent,
        conditions=condition_differences([sides[before], sides[latest]]),
    )


def _judged(runs: Sequence[ApartRun], asked: Asked, metric: str) -> Judged:
    """Holds the latest runs against those of the level that came before them."""
    latest, earlier = runs[-asked.latest :], runs[: -asked.latest]
    if not earlier:
        raise DirectoryRefused("history-too-short", runs[-1].name, latest=asked.latest)
    against = earlier[_last_level(earlier, metric) :]
    sides = [Side(_span(against), tuple(against)), Side(_span(latest), tuple(latest))]
    compared = compare_runs(sides, Question(gates=asked.gates))
    names = [tuple(run.name for run in side) for side in (latest, against)]
    return Judged(compared.gates, *names)


def _last_level(runs: Sequence[ApartRun], metric: str) -> int:
    """The run with which the last level begins in any arm."""
    sides = [Side(run.name, (run,)) for run in runs]
    series = _series(sides, match_arms(sides).common, [metric], 1.0)
    return max((change.first for one in series for change in one.changes), default=0)


def _span(runs: Sequence[ApartRun]) -> str:
    return runs[0].name if len(runs) == 1 else f"{runs[0].name} … {runs[-1].name}"
