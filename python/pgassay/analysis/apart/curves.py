"""How each arm went in every side: by load, over the time of a trial, by quantile of latency.

Enters: the sides, the arms and loads that all have. Leaves: an `ArmCurves` per arm.
Never: compares: what stands beside each other was measured at different times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pgassay.analysis.apart.arms import CommonArm, values_of
from pgassay.analysis.apart.model import ApartRun, ArmCurves, AtLoad, Side
from pgassay.analysis.apart.spread import within
from pgassay.analysis.curves.latency_curve import curves_of_groups
from pgassay.analysis.reading.metrics import METRICS

_BY_LOAD = ("tps", "latency_p99", "response_p99")


def curves_by_arm(
    sides: Sequence[Side], arms: Sequence[CommonArm], loads: Sequence[float]
) -> tuple[ArmCurves, ...]:
    """The curves of each arm."""
    return tuple(
        ArmCurves(
            arm=arm.label,
            series=tuple(
                replace(one, arm=name)
                for name, run, ids in _runs(sides, arm)
                for one in run.series
                if one.arm in ids
            ),
            latencies=curves_of_groups(
                {
                    side.name: [
                        one
                        for name, run, ids in _runs(sides, arm)
                        if name == side.name
                        for one in run.latencies
                        if one.arm in ids
                    ]
                    for side in sides
                }
            ),
            by_load=tuple(_by_load(sides, arm, loads)),
        )
        for arm in arms
    )


def _runs(sides: Sequence[Side], arm: CommonArm) -> Iterator[tuple[str, ApartRun, frozenset[str]]]:
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
