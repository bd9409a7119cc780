"""The figures of the host, and of speed and waits, in every arm: over intervals, and their change
from the baseline arm.

Enters: the plan, the even series of its trials, the host's knobs, comparisons. Leaves:
`HostFigure`s. Never: takes a figure that was not read for zero.

Median, smallest and largest value are of intervals; the mean and its change are of whole trials,
because the trial is the unit of analysis. A wait per request is its total time over its requests,
in intervals and trials alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgassay.analysis.compare.many import Measured, Place, figures_by_arm
from pgassay.analysis.compare.model import FEW_BLOCKS, ArmFigure
from pgassay.analysis.measures.courses.even_series import (
    WAIT_TYPES,
    EvenSeries,
    interval_width_s,
)
from pgassay.analysis.measures.courses.figures import Figures, figures
from pgassay.analysis.sampled.model import (
    DISK,
    HOST,
    SPEED,
    Definition,
    HostFigure,
    IntervalSpread,
    wait_definition,
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


@dataclass(frozen=True)
class Sampled:
    """The figures of all trials over even intervals and over whole trials, by series."""

    plan: Plan
    series: Sequence[EvenSeries]
    intervals: Sequence[Figures]
    whole: Sequence[Mapping[str, float]]

    def host(self) -> tuple[HostFigure, ...]:
        """Returns the figures of the whole host, then those of each disk; of arms that alternate on
        one server those of their slices, none of arms that run side by side."""
        return self._compared(host_definitions(self.series))

    def speed(self) -> tuple[HostFigure, ...]:
        """Returns SPEED, WAITINGS and the types of waits; none of arms that alternate."""
        if self.plan.alternates:
            return ()
        return self._compared(speed_definitions())

    def _compared(self, named: Sequence[tuple[str, Definition]]) -> tuple[HostFigure, ...]:
        """Intervals are corrected for all figures of one call together."""
        means = [
            Measured(dict(_values(self.series, self.whole, *one)), floor=one[1].floor)
            for one in named
        ]
        compared = figures_by_arm(self.plan, means, (), FEW_BLOCKS)
        arms = [arm.id for arm in self.plan.arms]
        made = (
            HostFigure(
                one.name,
                device,
                one.unit,
                one.digits,
                one.good,
                tuple(_spreads(arms, self.series, self.intervals, device, one)),
                of_arms,
            )
            for (device, one), of_arms in zip(named, compared, strict=True)
            if of_arms
        )
        return tuple(one for one in made if one.spreads)


def sampled_of(plan: Plan, series: Sequence[EvenSeries], knobs: Knobs) -> Sampled:
    """Returns the figures of trials that have any interval; of arms that alternate by slice."""
    every = [each for one in series for each in (one.by_arm() if plan.alternates else (one,))]
    known = [one for one in every if one.intervals]
    width_s = interval_width_s(min((one.seconds for one in known), default=0.0))
    return Sampled(
        plan,
        known,
        [figures(one, width_s, knobs[one.arm]) for one in known],
        [of_whole(one, knobs[one.arm]) for one in known],
    )


def observed_host(one: EvenSeries, vm: Mapping[str, str]) -> tuple[HostFigure, ...]:
    """Returns the figures of the host, then those of each disk, of a series that is compared with
    nothing."""
    return described([(one, vm)], host_definitions([one]))


def described(
    trials: Sequence[tuple[EvenSeries, Mapping[str, str]]],
    named: Sequence[tuple[str, Definition]],
) -> tuple[HostFigure, ...]:
    """Returns figures by the arms of series, each with the knobs of its host: without a change from
    one arm to another."""
    known = [(one, vm) for one, vm in trials if one.intervals]
    series = [one for one, _ in known]
    width_s = interval_width_s(min((one.seconds for one in series), default=0.0))
    intervals = [figures(one, width_s, vm) for one, vm in known]
    whole = [of_whole(one, vm) for one, vm in known]
    arms = list(dict.fromkeys(one.arm for one in series))
    made = []
    for device, one in named:
        values: dict[str, list[float]] = {}
        for trial, row in zip(series, whole, strict=True):
            if (value := one.of(device, row)) is not None:
                values.setdefault(trial.arm, []).append(one.times * value)
        spreads = tuple(_spreads([*values], series, intervals, device, one)) if values else ()
        means = (
            ArmFigure(arm, float(np.mean(values[arm])), len(values[arm]))
            for arm in arms
            if arm in values
        )
        made.append(
            HostFigure(one.name, device, one.unit, one.digits, one.good, spreads, tuple(means))
        )
    return tuple(one for one in made if one.spreads)


def host_definitions(series: Sequence[EvenSeries]) -> list[tuple[str, Definition]]:
    """Lists the figures of the whole host, of no device, then those of each disk."""
    return [("", one) for one in HOST] + [(disk, one) for disk in disks_of(series) for one in DISK]


def speed_definitions() -> list[tuple[str, Definition]]:
    """Lists SPEED, WAITINGS and the types of waits."""
    return [("", one) for one in (*SPEED, *map(wait_definition, WAIT_TYPES))]


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
    arms: Sequence[str],
    series: Sequence[EvenSeries],
    every: Sequence[Figures],
    disk: str,
    defined: Definition,
) -> Iterator[IntervalSpread]:
    for arm in arms:
        own = [row for one, row in zip(series, every, strict=True) if one.arm == arm]
        rows = [found for row in own if (found := defined.of(disk, row)) is not None]
        known = np.concatenate(rows) if rows else np.empty(0)
        known = defined.times * known[np.isfinite(known)]
        if len(known):
            yield IntervalSpread(
                arm, float(np.median(known)), float(known.min()), float(known.max())
            )
