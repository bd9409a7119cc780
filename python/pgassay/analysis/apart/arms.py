"""Which arms of runs made apart are the same, and which values do their trials have?

Enters: the runs; a metric, a load. Leaves: for each common arm the ids of its trials, run by run,
their values on the scale of comparison, and how each arm went by load, over time and by quantile,
with what was sampled in it.
Never: matches arms whose levels differ, but for runs of one arm each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from pgassay.analysis.apart.model import ApartRun, ArmCurves, AtLoad, Side
from pgassay.analysis.apart.spread import Values, within
from pgassay.analysis.curves.latency_curve import curves_of_groups
from pgassay.analysis.measures.courses.even_series import EvenSeries
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.reading.metrics import METRICS, Metric
from pgassay.analysis.sampled.by_load import profile_at
from pgassay.analysis.sampled.host_figures import (
    described,
    disks_of,
    host_definitions,
    knobs_of,
    speed_definitions,
)
from pgassay.analysis.sampled.model import LoadProfile
from pgassay.notes import Term
from pgassay.refusals.refusal import DirectoryRefused

Levels = frozenset[tuple[str, str]]
_Sampled = tuple[EvenSeries, Mapping[str, str]]


@dataclass(frozen=True)
class CommonArm:
    """An arm that all runs have."""

    label: str
    ids: Mapping[int, frozenset[str]]
    """Place of a run, over all sides → the ids by which its trials name this arm."""


@dataclass(frozen=True)
class Matched:
    """The arms of all runs."""

    common: tuple[CommonArm, ...]
    left_out: tuple[str, ...]
    """Labels of arms that some run lacks."""
    are_single: bool
    """Whether each run has a single arm, which needs no name."""


def match_arms(sides: Sequence[Side]) -> Matched:
    """Arms with the same levels; of runs with one arm each, these."""
    runs = [run for side in sides for run in side.runs]
    found = [_arms_of(run) for run in runs]
    if all(len(arms) == 1 for arms in found):
        ids = {place: next(iter(arms.values())) for place, arms in enumerate(found)}
        return Matched((CommonArm("", ids),), (), are_single=True)
    common = [levels for levels in found[0] if all(levels in arms for arms in found)]
    every = dict.fromkeys(levels for arms in found for levels in arms)
    return Matched(
        tuple(
            CommonArm(_label(levels), {place: arms[levels] for place, arms in enumerate(found)})
            for levels in common
        ),
        tuple(_label(levels) for levels in every if levels not in common),
        are_single=False,
    )


def first_arms(sides: Sequence[Side]) -> Matched:
    """Matches the first arm of every run, for runs that have none in common."""
    runs = [run for side in sides for run in side.runs]
    ids = {place: next(iter(_arms_of(run).values())) for place, run in enumerate(runs)}
    return Matched((CommonArm("first arm", ids),), (), are_single=False)


def _arms_of(run: ApartRun) -> dict[Levels, frozenset[str]]:
    """Levels → ids; an A/A run has one arm, by two names."""
    plan = run.plan
    if plan.alternates:
        raise DirectoryRefused("all-arms-at-once", run.name, mode=plan.mode)
    if plan.calibrates:
        levels = frozenset((factor.name, factor.baseline) for factor in plan.held)
        return {levels: frozenset(arm.id for arm in plan.arms)}
    return {frozenset(arm.levels.items()): frozenset({arm.id}) for arm in plan.arms}


def _label(levels: Levels) -> str:
    return ", ".join(f"{name} = {level}" for name, level in sorted(levels)) or Term("only arm")


def values_of(
    sides: Sequence[Side], arm: CommonArm, metric: Metric, step: float | None
) -> list[list[Values]]:
    """Returns, by side and run, the values of an arm's trials on the scale of comparison."""
    found, place = list[list[Values]](), 0
    for side in sides:
        of_side = []
        for run in side.runs:
            measured = (one.at(step) for one in trials_of(run.trials, arm, place))
            values = (one.values.get(metric.name) for one in measured if one is not None)
            of_side.append(_scaled(metric, [value for value in values if value is not None]))
            place += 1
        found.append(of_side)
    return found


def trials_of(trials: Sequence[TrialMeasures], arm: CommonArm, place: int) -> list[TrialMeasures]:
    """Returns the trials of an arm in the run that has this place over all sides."""
    return [trial for trial in trials if trial.arm in arm.ids[place]]


def _scaled(metric: Metric, values: Sequence[float]) -> Values:
    """The values on the scale of comparison; what has no logarithm is left out."""
    found = np.array(values, dtype=np.float64)
    return np.log(found[found > 0.0]) if metric.scale == "ratio" else found


_BY_LOAD = ("tps", "latency_p99", "response_p99")


def curves_by_arm(
    sides: Sequence[Side], arms: Sequence[CommonArm], loads: Sequence[float]
) -> tuple[ArmCurves, ...]:
    """Returns how each arm went in every side."""
    sampled = {arm.label: tuple(_sampled(sides, arm)) for arm in arms}
    named = host_definitions([one for own in sampled.values() for one, _ in own])
    return tuple(
        ArmCurves(
            arm=arm.label,
            series=tuple(
                replace(one, arm=name)
                for name, run, ids in _runs_of(sides, arm)
                for one in run.series
                if one.arm in ids
            ),
            latencies=curves_of_groups(
                {
                    side.name: [
                        one
                        for name, run, ids in _runs_of(sides, arm)
                        if name == side.name
                        for one in run.latencies
                        if one.arm in ids
                    ]
                    for side in sides
                }
            ),
            by_load=tuple(_by_load(sides, arm, loads)),
            host=described(sampled[arm.label], named),
            speed=described(sampled[arm.label], speed_definitions()),
            profiles=tuple(_profiles(sides, arm, loads, sampled[arm.label])),
        )
        for arm in arms
    )


def _profiles(
    sides: Sequence[Side], arm: CommonArm, loads: Sequence[float], sampled: Sequence[_Sampled]
) -> Iterator[LoadProfile]:
    """Sides by load, of the plan and the connections of their first run."""
    disks = disks_of([one for one, _ in sampled])
    for load, side in product(loads if len(loads) > 1 else (), sides):
        runs = [(run, ids) for name, run, ids in _runs_of(sides, arm) if name == side.name]
        trials = [one for run, ids in runs for one in run.trials if one.arm in ids]
        series = [(one, vm) for one, vm in sampled if one.arm == side.name]
        first, ids = runs[0]
        asked = next((one for one in first.asked if one.arm in ids), None)
        yield profile_at(first.plan, (side.name, load), trials, series, disks, asked)


def _sampled(sides: Sequence[Side], arm: CommonArm) -> Iterator[_Sampled]:
    """Each trial's samples, with the name of its side for an arm, and the knobs of its host."""
    for name, run, ids in _runs_of(sides, arm):
        knobs = knobs_of(run.plan, run.environment)
        for one in run.even:
            if one.arm in ids:
                yield replace(one, arm=name), knobs[one.arm]


def _runs_of(
    sides: Sequence[Side], arm: CommonArm
) -> Iterator[tuple[str, ApartRun, frozenset[str]]]:
    """Each run with the name of its side and the ids that the arm has in it."""
    runs = [(side.name, run) for side in sides for run in side.runs]
    for place, (name, run) in enumerate(runs):
        yield name, run, arm.ids[place]


def _by_load(sides: Sequence[Side], arm: CommonArm, loads: Sequence[float]) -> Iterator[AtLoad]:
    for metric in map(METRICS.__getitem__, _BY_LOAD if len(loads) > 1 else ()):
        at_loads = {load: values_of(sides, arm, metric, load) for load in loads}
        for place, side in enumerate(sides):
            for load, values in at_loads.items():
                runs = values[place]
                if all(len(run) for run in runs):
                    mean = within(runs).mean
                    low = min(float(run.min()) for run in runs)
                    high = max(float(run.max()) for run in runs)
                    yield AtLoad(side.name, metric.name, load, *map(math.exp, (mean, low, high)))
