"""What sessions, the checkpointer, the WAL and the disk did in each interval of a trial.

Enters: the samples of a stored trial. Leaves: its checkpoints, and one array per signal.
Never: says what a signal means, or invents one that was not read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.measures.model import TrialCheckpoint
from pgassay.analysis.measures.sources import TrialSources
from pgassay.analysis.reading.counters import CounterSeries, Key
from pgassay.analysis.waits.wait_profile import looks_in, times_of_looks
from pgassay.notes import terms_of

Array = NDArray[np.float64]
Edges = NDArray[np.int64]
SIGNALS = terms_of(
    tomllib.loads((files(__package__) / "checkpoint_signals.toml").read_text("utf-8")), ("title",)
)
GROUPS: Mapping[str, str] = {one["name"]: one["title"] for one in SIGNALS["group"]}
"""Groups of waits of the load's sessions: name → title."""


def checkpoints_within(table: pa.Table, zero_ns: int, end_ns: int) -> tuple[TrialCheckpoint, ...]:
    """The checkpoints of the measured part, in order."""
    found = []
    for row in table.sort_by("started_ns").to_pylist():
        if zero_ns <= row["started_ns"] < end_ns:
            ended = row["ended_ns"]
            found.append(
                TrialCheckpoint(
                    (row["started_ns"] - zero_ns) / 1e9,
                    None if ended is None else (ended - zero_ns) / 1e9,
                    row["cause"],
                    row["buffers"],
                    row["write_s"],
                    row["sync_s"],
                    row["sync_longest_s"],
                    row["distance_kb"],
                )
            )
    return tuple(found)


def read_signals_around(sources: TrialSources, edges_ns: Edges) -> Mapping[str, Array]:
    """Returns each signal that was read, interval by interval.

    Groups of waits and the checkpointer are average sessions, counters rates per second.
    """
    found = {**_sessions(sources, edges_ns), **_checkpointer(sources.sampled, edges_ns)}
    for one in SIGNALS["counter"]:
        for counters in (sources.postgres, sources.host):
            for path in one["of"]:
                rate = _rate(counters, _key(path), edges_ns)
                if rate is not None and one["name"] not in found:
                    found[one["name"]] = one["scale"] * rate
    found |= _disk(sources.host, edges_ns)
    middles = (edges_ns[1:] + edges_ns[:-1]) // 2
    for one in SIGNALS["level"]:
        key = _key(one["of"])
        if key in sources.host.keys():  # noqa: SIM118 (not a mapping)
            times, values = sources.host.points(key)
            found[one["name"]] = one["scale"] * np.interp(
                middles - times[0], times - times[0], values
            )
    return found


def _sessions(sources: TrialSources, edges_ns: Edges) -> dict[str, Array]:
    events, sessions = sources.waits.events, sources.waits.by_event(edges_ns)
    found = {name: np.zeros(len(edges_ns) - 1) for name in GROUPS}
    for event, column in zip(events, sessions.T, strict=True):
        found[_group(*event)] += column
    return {name: _bridged(values) for name, values in found.items()} if events else {}


def _checkpointer(table: pa.Table, edges_ns: Edges) -> dict[str, Array]:
    """How long the checkpointer was waiting for data files, as a share of each interval."""
    ticks = looks_in(table)
    weights = times_of_looks(ticks)
    rows = table.filter(
        pc.fill_null(pc.equal(table["backend_type"].cast(pa.string()), "checkpointer"), False)
    )
    if not len(ticks):
        return {}
    events = [
        f"{kind or 'CPU'}:{name or ''}"
        for kind, name in zip(
            rows["wait_event_type"].to_pylist(), rows["wait_event"].to_pylist(), strict=True
        )
    ]
    busy = np.array(
        [_matches(event, SIGNALS["checkpointer"]["patterns"]) for event in events], bool
    )
    at = rows["tick_ns"].to_numpy()[busy] if len(events) else np.empty(0, np.int64)
    spent, _ = np.histogram(at, edges_ns, weights=weights[np.searchsorted(ticks, at)])
    looked, _ = np.histogram(ticks, edges_ns, weights=weights)
    share = np.divide(spent, looked, out=np.full(len(spent), np.nan), where=looked > 0.0)
    return {SIGNALS["checkpointer"]["name"]: _bridged(share)}


def _disk(host: CounterSeries, edges_ns: Edges) -> dict[str, Array]:
    """Time of a write and requests under way, of the device that had most of them."""
    rule = SIGNALS["disk"]
    queues = {
        key[1]: rate
        for key in host.keys()  # noqa: SIM118 (not a mapping)
        if key[0] == "diskstats" and key[2] == rule["busiest"]
        if (rate := _rate(host, key, edges_ns)) is not None
    }
    if not queues:
        return {}
    device = max(queues, key=lambda name: float(queues[name].sum()))
    found = {"disk_queue": queues[device] / 1000.0}
    spent = _rate(host, ("diskstats", device, rule["time"]), edges_ns)
    number = _rate(host, ("diskstats", device, rule["number"]), edges_ns)
    if spent is not None and number is not None:
        found["disk_write_ms"] = np.divide(
            spent, number, out=np.zeros(len(spent)), where=number > 0.0
        )
    return found


def _rate(counters: CounterSeries, key: Key, edges_ns: Edges) -> Array | None:
    if key not in counters.keys():  # noqa: SIM118 (not a mapping)
        return None
    times, values = counters.points(key)
    if len(times) < 2 or np.any(np.diff(values) < 0.0):
        return None
    # Unix time in nanoseconds exceeds a float's precision: count from the first reading.
    at_edges = np.interp(edges_ns - times[0], times - times[0], values)
    grown: Array = np.diff(at_edges) / np.diff(edges_ns) * 1e9
    return grown


def _bridged(values: Array) -> Array:
    """Intervals without a sample lie between those beside them."""
    known = np.isfinite(values)
    if known.all() or not known.any():
        return np.nan_to_num(values)
    places = np.arange(len(values))
    found: Array = np.interp(places, places[known], values[known])
    return found


@cache
def _group(kind: str | None, name: str | None) -> str:
    event = f"{kind or 'CPU'}:{name or ''}"
    return str(next(one["name"] for one in SIGNALS["group"] if _matches(event, one["patterns"])))


def _matches(event: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(event.lower(), pattern.lower()) for pattern in patterns)


def _key(path: str) -> Key:
    source, thing, name = path.split("/")
    return source, thing, name
