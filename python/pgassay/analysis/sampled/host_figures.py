"""The host's figures in every arm: over intervals, and their change from the baseline arm.

Enters: the plan, the even series of its trials, the host's knobs, comparisons. Leaves:
`HostFigure`s. Never: takes a figure that was not read for zero.

Median, smallest and largest value are of intervals; the mean and its change are of whole trials,
because the trial is the unit of analysis. A wait per request is its total time over its requests,
in intervals and trials alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pgassay.analysis.compare.many import Measured, Place, figures_by_arm
from pgassay.analysis.compare.model import FEW_BLOCKS
from pgassay.analysis.measures.courses.even_series import EvenSeries, interval_width_s
from pgassay.analysis.measures.courses.figures import Figures, figures
from pgassay.analysis.sampled.model import (
    DISK,
    HOST,
    Definition,
    HostFigure,
    IntervalSpread,
)
from pgassay.plan.model import Plan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.trials.host.disk_names import whole_disks

Knobs = Mapping[str, Mapping[str, str]]
"""Arm → the knobs of its host, such as `vm.dirty_ratio`."""


def knobs_of(plan: Plan, environment: EnvironmentFile) -> Knobs:
    """Returns the knobs that each arm ran with: those found, and those that it sets."""
    found = {name: str(value) for name, value in environment.host.vm.items()}
    return {arm.id: {**found, **arm.knobs} for arm in plan.arms}


def host_figures(plan: Plan, series: Sequence[EvenSeries], knobs: Knobs) -> tuple[HostFigure, ...]:
    """Returns the figures of the whole host, then those of each disk; of arms that alternate on one
    server those of their slices, none of arms that run side by side."""
    every = [each for one in series for each in (one.by_arm() if plan.alternates else (one,))]
    known = [one for one in every if one.intervals]
    if not known:
        return ()
    width_s = interval_width_s(min(one.seconds for one in known))
    intervals = [figures(one, width_s, knobs[one.arm]) for one in known]
    whole = [of_whole(one, knobs[one.arm]) for one in known]
    found = [("", one) for one in HOST]
    found += [(disk, one) for disk in disks_of(known) for one in DISK]
    means = [Measured(dict(_values(known, whole, *one)), floor=one[1].floor) for one in found]
    compared = figures_by_arm(plan, means, (), FEW_BLOCKS)
    made = (
        HostFigure(
            one.name,
            device,
            one.unit,
            one.digits,
            one.good,
            tuple(_spreads(plan, known, intervals, device, one)),
            of_arms,
        )
        for (device, one), of_arms in zip(found, compared, strict=True)
        if of_arms
    )
    return tuple(one for one in made if one.spreads)


def of_whole(one: EvenSeries, vm: Mapping[str, str]) -> Mapping[str, float]:
    """Returns each figure over a whole series, without those that were not read."""
    found = figures(one, one.seconds, vm)
    return {name: float(row[0]) for name, row in found.items() if np.isfinite(row[0])}


def disks_of(series: Sequence[EvenSeries]) -> list[str]:
    """Returns the disks of which any trial read or wrote something, without their partitions."""
    every = sorted({disk for one in series for disk in one.disks})
    return [
        disk
        for disk in whole_disks(every) or every
        if any(
            np.nansum(one.values.get(f"{disk}/{what}", 0.0)) > 0.0
            for one in series
            for what in ("reads", "writes")
        )
    ]


def _values(
    series: Sequence[EvenSeries],
    whole: Sequence[Mapping[str, float]],
    disk: str,
    defined: Definition,
) -> Iterator[tuple[Place, float]]:
    for one, values in zip(series, whole, strict=True):
        if (value := defined.of(disk, values)) is not None:
            yield (one.block, one.arm), defined.times * value


def _spreads(
    plan: Plan,
    series: Sequence[EvenSeries],
    every: Sequence[Figures],
    disk: str,
    defined: Definition,
) -> Iterator[IntervalSpread]:
    for arm in plan.arms:
        own = [row for one, row in zip(series, every, strict=True) if one.arm == arm.id]
        rows = [found for row in own if (found := defined.of(disk, row)) is not None]
        known = np.concatenate(rows) if rows else np.empty(0)
        known = defined.times * known[np.isfinite(known)]
        if len(known):
            yield IntervalSpread(
                arm.id, float(np.median(known)), float(known.min()), float(known.max())
            )
