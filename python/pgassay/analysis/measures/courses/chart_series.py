"""The series that the report's charts draw over time.

Enters: stored trials. Leaves: series on the trial's own clock (0 = measurement begins).
Never: tests anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.chart_samples import (
    SampledCourse,
    figure_course,
    sampled_course,
)
from pgassay.analysis.measures.courses.even_series import EvenSeries, read_even_series
from pgassay.analysis.measures.courses.latencies import LatencyCourse, latency_course
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.logged import ERRORS, logged_in
from pgassay.analysis.waits.wait_profile import SampledWaits, usual_ns
from pgassay.notes import Note
from pgassay.samples.stored_parts import StoredTrial

FAILED = "failed"
"""The kind of event of transactions that failed, as the load saw it."""
_VACUUMS = ("autovacuum", "autoanalyze")
_SHOWN_OTHERWISE = (*_VACUUMS, "checkpoints_too_frequent")
_PAUSES, _LEAST_PAUSE_NS = 3.5, 2 * 10**9
"""A pause of sampling: so many times the usual pause between samples, and not shorter than this."""


@dataclass(frozen=True)
class Span:
    """Something that lasted; without an end it had none when the trial ended."""

    start_s: float
    end_s: float | None
    what: str | Note
    """The cause of a checkpoint, or `autovacuum of TABLE`."""
    sync_s: float = 0.0
    """How long a checkpoint waited at its end until all it had written was on disk."""


@dataclass(frozen=True)
class Event:
    """How often something happened in one second."""

    at_s: float
    kind: str
    count: int


def checkpoint_spans(checkpoints: pa.Table, zero_ns: int) -> tuple[Span, ...]:
    """The checkpoints and restartpoints of a trial."""
    columns = ["started_ns", "ended_ns", "cause", "sync_s"]
    return tuple(
        Span(
            (row["started_ns"] - zero_ns) / 1e9,
            None if row["ended_ns"] is None else (row["ended_ns"] - zero_ns) / 1e9,
            row["cause"],
            row["sync_s"] or 0.0,
        )
        for row in checkpoints.select(columns).to_pylist()
    )


def vacuum_spans(trial: StoredTrial, zero_ns: int) -> tuple[Span, ...]:
    """The runs of autovacuum; they are logged when they end, with the time they took."""
    events = trial.table("events").select(["time_ns", "kind", "object", "figures"])
    events = events.filter(pc.is_in(events["kind"].cast(pa.string()), pa.array(_VACUUMS)))
    found = []
    for row in events.to_pylist():
        end = (row["time_ns"] - zero_ns) / 1e9
        took = dict(row["figures"] or ()).get("elapsed_s") or 0.0
        values = {"kind": row["kind"], "table": row["object"]}
        found.append(Span(end - took, end, Note("analysis/measures/vacuum", values)))
    return tuple(found)


def events_by_second(
    trial: StoredTrial, load: pa.Table, zero_ns: int, until_ns: int
) -> tuple[Event, ...]:
    """Failed transactions, and what the server's log reports beside checkpoints and autovacuum."""
    found: Counter[tuple[int, str]] = Counter()
    failed = load.filter(pc.greater(load["failed"], 0)).select(["start_ns", "failed"])
    first_ns = pc.min(load["start_ns"]).as_py()
    for row in failed.to_pylist():
        found[(row["start_ns"] - zero_ns) // 10**9, FAILED] += row["failed"]
    columns = ["time_ns", "kind", "severity", "sqlstate", "count"]
    for row in trial.table("events").select(columns).to_pylist():
        kind = row["kind"]
        if kind in _SHOWN_OTHERWISE or not (first_ns or zero_ns) <= row["time_ns"] < until_ns:
            continue
        if kind == ERRORS:
            kind = f"{ERRORS} {row['sqlstate'] or row['severity']}"
        found[(row["time_ns"] - zero_ns) // 10**9, kind] += row["count"]
    return tuple(Event(at + 0.5, kind, count) for (at, kind), count in sorted(found.items()))


def sampling_pauses(ticks_ns: NDArray[np.int64], zero_ns: int) -> tuple[Span, ...]:
    """When sessions were not sampled for much longer than usual."""
    longest = max(_PAUSES * usual_ns(ticks_ns), _LEAST_PAUSE_NS)
    return tuple(
        Span((ticks_ns[at] - zero_ns) / 1e9, (ticks_ns[at + 1] - zero_ns) / 1e9, "no samples")
        for at in np.flatnonzero(np.diff(ticks_ns) > longest).tolist()
    )


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
    figures: SampledCourse = field(default_factory=SampledCourse)
    """Speed, waits and the host over the measured part."""


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


def chart_series(
    trial: StoredTrial, sources: TrialSources | None = None, even: EvenSeries | None = None
) -> ChartSeries:
    """Returns the series of one trial that its charts draw; `even` is its own."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    measured = summary.load.measured
    zero, end = measured[0].start_ns, measured[-1].end_ns
    load = sources.load.group_by("start_ns", use_threads=False).aggregate([("transactions", "sum")])
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
        figures=figure_course(even or read_even_series(trial, sources)),
    )
