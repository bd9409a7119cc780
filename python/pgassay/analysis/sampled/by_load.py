"""One arm or run at one load: connections, throughput, speed, latency, waits and the host.

Enters: the plan, trial measures, even series, what arms were run with. Leaves: `LoadProfile`s.
Never: compares arms; the effects at each load do (`curves/effect_curves.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.courses.even_series import WAIT_TYPES, EvenSeries
from pgassay.analysis.measures.model import TrialMeasures
from pgassay.analysis.sampled.host_figures import Knobs, disks_of, of_whole
from pgassay.analysis.sampled.model import DISK, HOST, SPEED, LoadProfile
from pgassay.plan.demands import pool_sizes
from pgassay.plan.model import Plan

_METRICS = ("tps", "latency_mean", "latency_p99", "response_mean", "response_p99", "failed_share")


def load_profiles(
    plan: Plan,
    trials: Sequence[TrialMeasures],
    series: Sequence[EvenSeries],
    knobs: Knobs,
    asked: Sequence[ArmAsked] = (),
) -> tuple[LoadProfile, ...]:
    """Returns every arm at each load, in the order of the file; none where trials have one load, or
    arms alternate."""
    levels = tuple(dict.fromkeys(plan.step_levels()))
    if plan.alternates or len(levels) < 2:
        return ()
    disks = disks_of(series)
    pools = {one.arm: one for one in asked}
    return tuple(
        found
        for arm in plan.arms
        for level in levels
        if (
            found := profile_at(
                plan,
                (arm.id, level),
                [one for one in trials if one.arm == arm.id],
                [(one, knobs[arm.id]) for one in series if one.arm == arm.id],
                disks,
                pools.get(arm.id),
            )
        ).values
    )


def profile_at(
    plan: Plan,
    at: tuple[str, float],
    trials: Sequence[TrialMeasures],
    series: Sequence[tuple[EvenSeries, Mapping[str, str]]],
    disks: Sequence[str],
    asked: ArmAsked | None,
) -> LoadProfile:
    """Returns the means of trials at a load under the name that `at` gives them; each series has
    the knobs of its host."""
    arm, level = at
    steps = [step for one in trials if (step := one.at(level)) is not None]
    measured = [{**step.values} for step in steps]
    sampled = [
        dict(_sampled(of_whole(part, vm), disks)) for one, vm in series for part in one.at(level)
    ]
    names = list(dict.fromkeys(name for one in sampled for name in one))
    pools = _pools(plan, level, asked)
    return LoadProfile(
        arm,
        level,
        None if pools is None else sum(pools.values()),
        pools if pools and asked is not None and asked.has_pools else {},
        len(steps),
        {**_means(measured, _METRICS), **_means(sampled, names)},
    )


def _sampled(values: Mapping[str, float], disks: Sequence[str]) -> Iterator[tuple[str, float]]:
    yield from ((name, values[name]) for name in WAIT_TYPES if name in values)
    named = [("", one) for one in (*SPEED, *HOST)] + [(disk, one) for disk in disks for one in DISK]
    for disk, one in named:
        if (value := one.of(disk, values)) is not None:
            yield f"{disk}/{one.name}" if disk else one.name, one.times * value


def _means(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, float]:
    """The mean over the trials that have a figure."""
    known = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) for name, values in known.items() if values}


def _pools(plan: Plan, level: float, asked: ArmAsked | None) -> Mapping[str, int] | None:
    """The connections that run transactions at this load, by scenario where each has its own."""
    if asked is None or not asked.scripts:
        return None
    step = next(
        one
        for one, own in zip(
            (step for step in plan.steps if step.measured), plan.step_levels(), strict=True
        )
        if own == level
    )
    if not asked.has_pools:
        return {"": step.clients}
    sizes = pool_sizes(step.clients, asked.weights.values())
    return dict(zip(asked.weights, sizes, strict=True))
