"""What happened beside the load of one trial, for the report's charts over time.

Enters: a trial's checkpoints, log events, samples and load. Leaves: spans and events in seconds
from the start of the measurement. Never: explains anything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.reading.logged import ERRORS
from pgassay.analysis.waits.wait_profile import usual_ns
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
