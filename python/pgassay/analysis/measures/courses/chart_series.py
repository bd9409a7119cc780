"""The series that the report's charts draw over time.

Enters: stored trials. Leaves: series on the trial's own clock (0 = measurement begins).
Never: tests anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.chart_samples import SampledCourse, sampled_course
from pgassay.analysis.measures.courses.chart_spans import (
    Event,
    Span,
    checkpoint_spans,
    events_by_second,
    sampling_pauses,
    vacuum_spans,
)
from pgassay.analysis.measures.courses.latencies import LatencyCourse, latency_course
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.logged import logged_in
from pgassay.analysis.waits.wait_profile import SampledWaits
from pgassay.samples.stored_parts import StoredTrial


@dataclass(frozen=True)
class ChartSeries:
    """One trial, second by second; warm-up seconds are negative."""

    number: int
    block: int
    arm: str
    offset_s: tuple[float, ...]
    """The middle of each interval."""
    tps: tuple[float, ...]
    checkpoints: tuple[Span, ...]
    events: Mapping[str, float]
    """Wait event → average active sessions over the measured part."""
    logged: Mapping[str, int] | None
    """Counts of log events in the measured part; None where no log was read."""
    sampled_waits: Mapping[str, float] = field(default_factory=dict)
    """Wait event → average waiting sessions by pg_wait_sampling, warm-up included."""
    latency: LatencyCourse = field(default_factory=LatencyCourse)
    vacuums: tuple[Span, ...] = ()
    pauses: tuple[Span, ...] = ()
    """When sessions were not sampled."""
    happened: tuple[Event, ...] = ()
    """Failed transactions, and what the server's log reports besides."""
    sampled: SampledCourse = field(default_factory=SampledCourse)


def mean_by_second(series: Sequence[ChartSeries], arm: str) -> list[tuple[float, float]]:
    """Returns (offset, mean tps over the arm's trials) per interval, up to the shortest trial."""
    own = [trial for trial in series if trial.arm == arm]
    length = min((len(trial.tps) for trial in own), default=0)
    if not length:
        return []
    offsets = np.mean([trial.offset_s[:length] for trial in own], axis=0)
    tps = np.mean([trial.tps[:length] for trial in own], axis=0)
    return list(zip(offsets.tolist(), tps.tolist(), strict=True))


def p99_by_second(series: Sequence[ChartSeries], arm: str) -> list[tuple[float, float | None]]:
    """Returns (offset, median of the 99th percentiles of the arm's trials), up to the shortest
    trial."""
    own = [trial.latency for trial in series if trial.arm == arm and trial.latency.offset_s]
    found: list[tuple[float, float | None]] = []
    for offsets, values in zip(
        zip(*(one.offset_s for one in own), strict=False),
        zip(*(one.p99_ms for one in own), strict=False),
        strict=True,
    ):
        known = [value for value in values if value is not None]
        found.append((sum(offsets) / len(own), median(known) if known else None))
    return found


Timed = tuple[Sequence[float], Sequence[float | None]]
"""Offsets, and a value at each."""


def range_by_second(courses: Sequence[Timed]) -> list[tuple[float, float | None, float | None]]:
    """Returns (offset, lowest, highest of the trials' courses), up to the shortest."""
    found: list[tuple[float, float | None, float | None]] = []
    for points in zip(*(zip(*course, strict=True) for course in courses), strict=False):
        known = [value for _, value in points if value is not None]
        offset = sum(at for at, _ in points) / len(points)
        found.append((offset, min(known, default=None), max(known, default=None)))
    return found


def chart_series(trial: StoredTrial, sources: TrialSources | None = None) -> ChartSeries:
    """The series of one trial."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    measured = summary.load.measured
    zero, end = measured[0].start_ns, measured[-1].end_ns
    load = sources.load.group_by("start_ns").aggregate([("transactions", "sum")])
    load = load.sort_by("start_ns")
    starts: NDArray[np.int64] = load["start_ns"].to_numpy()
    edges = np.r_[starts[1:], end] if len(starts) else starts
    lengths = np.maximum((edges - starts) / 1e9, 1e-9)
    sampled = SampledWaits()
    sampled.add(sources.postgres)
    return ChartSeries(
        number=summary.number,
        block=summary.block,
        arm=summary.arm,
        offset_s=tuple(((starts - zero) / 1e9 + lengths / 2).tolist()),
        tps=tuple((load["transactions_sum"].to_numpy() / lengths).tolist()),
        checkpoints=checkpoint_spans(sources.checkpoints, zero),
        events=sources.waits.event_sessions(zero, end),
        logged=logged_in(trial, zero, end) if summary.log else None,
        sampled_waits=sampled.sessions(),
        latency=latency_course(
            sources.load,
            "latency" if measured[0].rate is None else "response",
            zero,
            summary.load.steps[-1].end_ns,
        ),
        vacuums=vacuum_spans(trial, zero),
        pauses=sampling_pauses(sources.waits.ticks_ns, zero),
        happened=events_by_second(trial, sources.load, zero, end),
        sampled=sampled_course(sources, summary.load.steps[0].start_ns, zero, end),
    )
