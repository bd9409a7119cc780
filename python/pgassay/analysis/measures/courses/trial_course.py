"""The course of one stored trial: its measured part, second by second.

Enters: a stored trial. Leaves: a `TrialCourse` of arrays on the intervals of the load.
Never: includes the warm-up, or a series whose counter was reset.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from importlib.resources import files

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.checkpoint_signals import (
    checkpoints_within,
    read_signals_around,
)
from pgassay.analysis.measures.model import TrialCheckpoint
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.reading.histograms import with_latencies
from pgassay.analysis.reading.metrics import WAIT_CLASSES
from pgassay.notes import Term
from pgassay.samples.stored_parts import StoredTrial

RULES = tomllib.loads((files(__package__) / "association.toml").read_text("utf-8"))
Array = NDArray[np.float64]
IMAGES = "wal wal_fpi"
"""The series of full-page images."""
_LONGEST_PAUSE = 5
"""Median pauses between readings of a gauge, above which it had nothing to report."""


@dataclass(frozen=True)
class StepSpan:
    """The range of a measured step in the arrays."""

    level: float
    begin: int
    end: int


@dataclass(frozen=True)
class Correlations:
    """Series × lags, with their effective samples."""

    names: tuple[str, ...]
    values: Array
    samples: Array
    phase_removed: bool


@dataclass(frozen=True)
class TrialCourse:
    """The intervals of the measured part; times are seconds from its start."""

    number: int
    block: int
    arm: str
    open_loop: bool
    edges_s: Array
    """The edges of the intervals, one more than intervals."""
    transactions: Array
    latency_ms: Array
    """Mean of each interval; NaN without a latency."""
    response_ms: Array
    """The same from when transactions were due; NaN in a closed loop."""
    steps: tuple[StepSpan, ...]
    checkpoints_s: Array
    """Starts of checkpoints within the measured part."""
    names: tuple[str, ...]
    series: Array
    """Series × intervals: rates of counters, values of gauges, sessions by wait class."""
    checkpoints: tuple[TrialCheckpoint, ...] = ()
    """Those that began within the measured part."""
    signals: Mapping[str, Array] = field(default_factory=dict)
    """What explains a dip after a checkpoint (checkpoint_signals.toml), interval by interval."""
    correlations: Correlations | None = None
    """Those of all series, once they are known (correlations.py)."""

    def whole(self, span: StepSpan) -> NDArray[np.int64]:
        """The places of a step's intervals of usual length; others are cut or lie beside a gap."""
        lengths = np.diff(self.edges_s)[span.begin : span.end]
        usual = lengths / np.median(lengths)
        return span.begin + np.flatnonzero((usual > 0.9) & (usual < 1.1))

    @property
    def interval_s(self) -> float:
        return float(np.median(np.diff(self.edges_s)))

    @property
    def tps(self) -> Array:
        return self.transactions / np.diff(self.edges_s)


def read_course(trial: StoredTrial, sources: TrialSources | None = None) -> TrialCourse | None:
    """The course; None with fewer than two measured intervals."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    measured = summary.load.measured
    starts, steps, transactions, latency, response = _intervals(sources.load_of(measured))
    if len(starts) < 2:
        return None
    zero, end = measured[0].start_ns, measured[-1].end_ns
    edges_ns = np.r_[starts, end]
    spans = []
    for step, level in zip(measured, summary.load.levels, strict=True):
        at = np.flatnonzero(steps == step.index)
        if len(at):
            spans.append(StepSpan(float(level), int(at[0]), int(at[-1]) + 1))
    checkpoints = np.sort(sources.checkpoints["started_ns"].to_numpy())
    inside = checkpoints[(checkpoints >= zero) & (checkpoints < end)]
    names, series = _series(sources, edges_ns)
    return TrialCourse(
        number=summary.number,
        block=summary.block,
        arm=summary.arm,
        open_loop=any(step.rate is not None for step in measured),
        edges_s=(edges_ns - zero) / 1e9,
        transactions=transactions,
        latency_ms=latency,
        response_ms=response,
        steps=tuple(spans),
        checkpoints_s=(inside - zero) / 1e9,
        names=names,
        series=series,
        checkpoints=checkpoints_within(sources.checkpoints, zero, end),
        signals=read_signals_around(sources, edges_ns) if len(inside) else {},
    )


def _intervals(load: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array, Array]:
    """(start, step, transactions, mean latency, mean response time) of each measured interval."""
    rows = with_latencies(load)
    names = ("transactions", "latencies", "latency_sum_ns", "response_sum_ns")
    sums = [(name, "sum") for name in names]
    found = (
        rows.group_by("start_ns", use_threads=False)
        .aggregate([("step", "min"), *sums])
        .sort_by("start_ns")
    )
    transactions, logged, *totals = (
        found[f"{name}_sum"].fill_null(0).to_numpy().astype(np.float64) for name in names
    )
    means = []
    for total in totals:
        mean = np.full(len(logged), np.nan)
        np.divide(total, logged * 1e6, out=mean, where=(logged > 0) & (total > 0))
        means.append(mean)
    latency, response = means
    starts, steps = found["start_ns"].to_numpy(), found["step_min"].to_numpy()
    return starts, steps, transactions, latency, response


def _series(sources: TrialSources, edges_ns: NDArray[np.int64]) -> tuple[tuple[str, ...], Array]:
    """The series that vary, with their names."""
    sampled = (sources.postgres, sources.host)
    most = len(WAIT_CLASSES) + sum(len(counters.keys()) for counters in sampled)
    matrix = np.empty((most, len(edges_ns) - 1))
    names: list[str] = []
    for wait_class, values in zip(WAIT_CLASSES, sources.waits.by_window(edges_ns).T, strict=True):
        _add(matrix, names, Term(f"sessions: {str.__str__(wait_class.title)}"), values)
    for counters in sampled:
        for key in sorted(counters.keys()):
            own = _one(counters, key, edges_ns)
            if own is not None:
                _add(matrix, names, " ".join(part for part in key if part), own)
    return tuple(names), matrix[: len(names)]


def _add(matrix: Array, names: list[str], name: str, values: Array) -> None:
    """The next row of the matrix, if the series varies and is known throughout."""
    if np.all(np.isfinite(values)) and np.ptp(values) > 0.0:
        matrix[len(names)] = values
        names.append(name)


def _one(counters: CounterSeries, key: Key, edges_ns: NDArray[np.int64]) -> Array | None:
    path = "/".join(key)
    if _is(path, "echoes"):
        return None
    times, values = counters.points(key)
    if len(times) < 2 or np.ptp(values) == 0.0:
        return None
    if not is_state(path):
        if counters.falls(key):
            return None
        at_edges = np.interp(edges_ns - times[0], times - times[0], values)
        grown: Array = np.diff(at_edges) / np.diff(edges_ns) * 1e9
        return grown
    # Readings between two equal values were equal too, and were not stored.
    apart = (times[1:] - times[:-1])[values[1:] != values[:-1]].max()
    apart = max(apart, times[0] - edges_ns[0], edges_ns[-1] - times[-1])
    if apart > _LONGEST_PAUSE * counters.period_ns(key[0]):
        return None  # a source without rows had nothing to report: the series is unknown
    middles = (edges_ns[1:] + edges_ns[:-1]) / 2
    found: Array = np.interp(middles, times, values)
    return found


def is_state(path: str) -> bool:
    """Whether SOURCE/OBJECT/NAME is a state, such as memory in use, and not a growing count."""
    return _is(path, "gauges")


@cache
def _is(path: str, what: str) -> bool:
    return _pattern(what).match(path) is not None


@cache
def _pattern(what: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, RULES[what])))
