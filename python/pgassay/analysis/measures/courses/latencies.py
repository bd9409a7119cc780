"""The latencies of one trial on a logarithmic grid: by place, over time, and of what they waited.

Enters: a stored trial. Leaves: `TrialLatencies`; the 99th percentile of each interval. Never: mixes
loads (of several steps it reads those with the greatest load, because each load has latencies of
its own), or averages percentiles: neighbouring intervals of a day are merged for a chart.

Transactions are not traced. But a sample of a session has the start of its transaction, so an age
that the transaction's latency must exceed: a session that was sampled at an age beyond the boundary
of a slow mode belongs to that mode or to a slower one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.histograms import Histogram, Of
from pgassay.analysis.waits.cpu_queue import CLIENT
from pgassay.samples.stored_parts import StoredTrial

Array = NDArray[np.float64]
ALL = ""
"""In place of a scenario's name: all of them together."""
GRID_STEP = 0.01
"""In natural logarithms: one per cent."""
_LOWEST_NS, _PLACES = 1e3, 2_100
"""From a microsecond to a quarter of an hour; what is beyond counts as the end."""
_EDGES_NS = _LOWEST_NS * np.exp(GRID_STEP * np.arange(_PLACES + 1))
START_STEP_NS = 1 << 20
"""Starts of transactions are stored in steps of this, rounded down."""


Ages = Mapping[str, Array]
"""Wait event (`CPU` where a session reports none) → sampled sessions in a transaction, by the place
on the grid of the age that it had at least, in the server's view."""


@dataclass(frozen=True)
class ScenarioLatencies:
    """One scenario: service times but for `responses`, of transactions whose time was logged."""

    counts: Array
    """By place of the grid."""
    at_checkpoints: Array
    """Of these, in intervals whose middle lies between a checkpoint's start and end."""
    mean_ms: float
    resolution_ns: float
    ages: Ages
    longest_ms: float = 0.0
    responses: Array | None = None
    """Response times by place of the grid, from when transactions were due; None in a closed
    loop."""
    longest_response_ms: float = 0.0


@dataclass(frozen=True)
class TrialLatencies:
    """The latencies of one trial at its greatest load."""

    block: int
    arm: str
    step: float | None
    """The load, where the trial has several; else None."""
    scenarios: Mapping[str, ScenarioLatencies]


def place_ms(place: float) -> float:
    """The latency at an edge of the grid."""
    return _LOWEST_NS * math.exp(GRID_STEP * place) / 1e6


def place_of(milliseconds: Array) -> NDArray[np.int64]:
    """The places on the grid that latencies or ages belong to."""
    places = np.searchsorted(_EDGES_NS, milliseconds * 1e6, side="right") - 1
    found: NDArray[np.int64] = np.clip(places, 0, _PLACES - 1).astype(np.int64)
    return found


def middles_ms() -> Array:
    """The latency in the middle of each place."""
    middles: Array = np.sqrt(_EDGES_NS[1:] * _EDGES_NS[:-1]) / 1e6
    return middles


def read_latencies(trial: StoredTrial, sources: TrialSources | None = None) -> TrialLatencies:
    """The latencies by scenario and, where there are several, of all together."""
    sources = sources or TrialSources(trial)
    summary = trial.summary()
    steps = summary.load.measured
    levels = summary.load.levels
    greatest = max(levels)
    chosen = [step for step, level in zip(steps, levels, strict=True) if level == greatest]
    load = sources.load_of(chosen)
    during = _during(load["start_ns"].to_numpy(), sources.checkpoints, chosen[-1].end_ns)
    waits = _waits_in(sources.sampled, [(step.start_ns, step.end_ns) for step in chosen])
    names = sorted(set(load["scenario"].to_pylist()))
    found = {}
    for name in (*names, *([ALL] if len(names) > 1 else [])):
        own = np.ones(load.num_rows, bool) if name == ALL else _are(load["scenario"], name)
        one = _latencies(load, own, during, _ages(waits, name))
        if one is not None:
            found[name] = one
    several = len(set(levels)) > 1
    return TrialLatencies(summary.block, summary.arm, float(greatest) if several else None, found)


def _are(column: pa.ChunkedArray, name: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.equal(column.cast(pa.string()), name).to_numpy()
    return found


def _during(starts: NDArray[np.int64], checkpoints: pa.Table, end_ns: int) -> NDArray[np.bool_]:
    """Which intervals lie within a checkpoint, by their middle."""
    edges = np.r_[np.unique(starts), end_ns]
    usual = float(np.median(np.diff(edges))) if len(edges) > 1 else 0.0
    middles = starts + usual / 2
    inside = np.zeros(len(starts), bool)
    for row in checkpoints.to_pylist():
        last = end_ns if row["ended_ns"] is None else row["ended_ns"]
        inside |= (middles >= row["started_ns"]) & (middles < last)
    return inside


def _latencies(
    load: pa.Table, own: NDArray[np.bool_], during: NDArray[np.bool_], ages: Ages
) -> ScenarioLatencies | None:
    rows = load if own.all() else load.filter(pa.array(own))
    merged = Histogram.merged(rows)
    if merged.total == 0:
        return None
    responses = Histogram.merged(rows, "response")
    # A program of the user's may log only some of its transactions; their sum is of those.
    return ScenarioLatencies(
        counts=merged.counts_between(_EDGES_NS),
        at_checkpoints=Histogram.merged(load.filter(pa.array(own & during))).counts_between(
            _EDGES_NS
        ),
        mean_ms=(pc.sum(rows["latency_sum_ns"]).as_py() or 0) / merged.total / 1e6,
        resolution_ns=merged.resolution_ns,
        ages=ages,
        longest_ms=float(merged.values_ns[-1]) / 1e6,
        responses=responses.counts_between(_EDGES_NS) if responses.total else None,
        longest_response_ms=float(responses.values_ns[-1]) / 1e6 if responses.total else 0.0,
    )


def _waits_in(waits: pa.Table, spans: list[tuple[int, int]]) -> pa.Table:
    """The sampled sessions of the load that were in a transaction, without parallel workers."""
    ticks = waits["tick_ns"].to_numpy()
    inside = np.zeros(len(ticks), bool)
    for start, end in spans:
        inside |= (ticks >= start) & (ticks < end)
    rows = waits.filter(pa.array(inside))
    rows = rows.filter(pc.and_(pc.is_valid(rows["xact_start_ns"]), pc.is_valid(rows["scenario"])))
    return rows.filter(pc.equal(rows["backend_type"].cast(pa.string()), CLIENT))


def _ages(waits: pa.Table, name: str) -> Ages:
    rows = waits if name == ALL else waits.filter(pa.array(_are(waits["scenario"], name)))
    least = rows["tick_ns"].to_numpy() - rows["xact_start_ns"].to_numpy() - START_STEP_NS
    places = place_of(np.maximum(least, 1) / 1e6)
    kinds, events = (
        rows[column].cast(pa.string()).to_pylist() for column in ("wait_event_type", "wait_event")
    )
    words = np.array([f"{k}:{e}" if e else "CPU" for k, e in zip(kinds, events, strict=True)])
    return {
        str(word): np.bincount(places[words == word], minlength=_PLACES).astype(np.float64)
        for word in np.unique(words)
    }


_MOST_POINTS = 1200
_SHARE = 0.99


@dataclass(frozen=True)
class LatencyCourse:
    """The 99th percentile over time."""

    of: Of = "latency"
    """From when a transaction was due (`response`), or from when it began."""
    offset_s: tuple[float, ...] = ()
    """The middle of each interval."""
    p99_ms: tuple[float | None, ...] = ()
    """None where no transaction ended."""


def latency_course(load: pa.Table, of: Of, zero_ns: int, end_ns: int) -> LatencyCourse:
    """The course of all scenarios together, warm-up included."""
    rows = load["start_ns"].to_numpy()
    starts: NDArray[np.int64] = np.unique(rows)
    values = pc.list_flatten(load[f"{of}_ns"]).combine_chunks()
    if not len(values):
        return LatencyCourse(of)
    width = math.ceil(len(starts) / _MOST_POINTS)
    lengths = pc.fill_null(pc.list_value_length(load[f"{of}_count"]), 0).to_numpy()
    bins = np.repeat(np.searchsorted(starts, rows) // width, lengths)
    # Of the millions of buckets of a day only some thousand differ.
    coded = values.dictionary_encode()
    places = place_of(coded.dictionary.to_numpy() / 1e6)
    lowest, kinds = int(places.min()), int(np.ptp(places)) + 1
    found = np.bincount(
        bins * kinds + (places - lowest)[coded.indices.to_numpy()],
        weights=pc.list_flatten(load[f"{of}_count"]).to_numpy(),
        minlength=math.ceil(len(starts) / width) * kinds,
    )
    edges = np.r_[starts[::width], end_ns]
    return LatencyCourse(
        of,
        tuple(((edges[:-1] + edges[1:]) / 2e9 - zero_ns / 1e9).tolist()),
        tuple(_quantile_ms(found.reshape(-1, kinds).astype(np.float64), lowest)),
    )


def _quantile_ms(counts: NDArray[np.float64], lowest: int) -> list[float | None]:
    """The quantile of each row of counts, between the edges of its place on the grid."""
    up_to = np.cumsum(counts, axis=1)
    ranks = _SHARE * up_to[:, -1]
    at = np.argmax(up_to >= ranks[:, None], axis=1)
    row = np.arange(len(at))
    own = counts[row, at]
    within = 1 - (up_to[row, at] - ranks) / np.where(own > 0, own, 1.0)
    return [
        place_ms(lowest + float(place)) if total else None
        for place, total in zip(at + within, up_to[:, -1], strict=True)
    ]
