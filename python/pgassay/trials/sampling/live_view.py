"""What a server and its host are doing right now, for the screen.

Enters: a sampler's running sums. Leaves: `LiveFigures` of the time between two readings.
Never: takes a sample away from the record, or makes a rate of a counter that went backwards.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pgassay import _core
from pgassay.trials.host.disk_names import whole_disks

_SOURCES = ["cluster", "stat", "diskstats", "processes"]
_USER_TICKS = ("user", "nice")
"""Of /proc/stat; the server's processes have theirs as `user_ticks`, by kind."""
_PROCESSOR = "cpu"
_WAITING, _IDLE, _STOLEN = "iowait", "idle", "steal"
_NOT_OWN = ("guest", "guest_nice")  # the kernel counts them in user and nice as well
_SECTOR = 512
_LOOKS = 4
"""Readings come each second: the oldest of so many looks has another one than the newest."""
_SHORTEST_NS = 900_000_000


@dataclass(frozen=True)
class Snapshot:
    """Running sums and last readings of a sampler at one moment."""

    at_ns: int
    ticks: int
    checkpointing: int
    busy: Mapping[str, int]
    readings: Mapping[str, Mapping[str, Any]]
    own_transactions: int
    client_user_s: float | None = None
    """Processor time of pgassay itself; None where it runs the load by further programs."""


@dataclass(frozen=True)
class LiveFigures:
    """Figures of the time between two snapshots; None is what was not measured."""

    answers: bool
    """Whether the server was sampled at all."""
    sessions: Mapping[str, float]
    """Wait event (no event is `CPU`) → average active sessions, the largest first."""
    checkpoint: bool
    """Whether a checkpoint was under way (known only with pg_monitor)."""
    tps: float | None
    """Commits of all databases, without the samplers' own."""
    rollbacks: float | None
    """Each second."""
    processors: Mapping[str, float] | None
    """busy, iowait and steal, in percent of the host's processors; others, the user time of other
    programs, where it is known."""
    read_bytes_s: float | None
    written_bytes_s: float | None
    """Of all disks of the host."""


class LiveReader:
    """Computes figures for the screen from the last few readings of a sampler."""

    def __init__(
        self,
        sampler: _core.Sampler,
        own_transactions: Callable[[], int],
        client_user_s: Callable[[], float] | None = None,
    ) -> None:
        self._sampler, self._own_transactions = sampler, own_transactions
        self._client_user_s = client_user_s
        self._values: dict[str, dict[str, dict[str, float]]] = {}
        self._snapshots = deque([self._snapshot()], maxlen=_LOOKS)
        self._figures: LiveFigures | None = None

    def figures(self) -> LiveFigures | None:
        """Returns what the server is doing, read at most once a second; None before the first
        reading."""
        if _core.now_ns() - self._snapshots[-1].at_ns >= _SHORTEST_NS:
            self._snapshots.append(self._snapshot())
            self._figures = figures_between(self._snapshots[0], self._snapshots[-1])
        return self._figures

    def _snapshot(self) -> Snapshot:
        found = json.loads(self._sampler.current(_SOURCES))
        found["readings"] = whole_readings(self._values, found["readings"])
        own, client_user_s = self._own_transactions(), self._client_user_s
        used_s = None if client_user_s is None else client_user_s()
        return Snapshot(_core.now_ns(), **found, own_transactions=own, client_user_s=used_s)


def whole_readings(
    values: dict[str, dict[str, dict[str, float]]], readings: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Completes readings with the values that did not change, which the sampler leaves out of a
    reading; `values` are those of before, and are brought up to date."""
    found = {}
    for source, reading in readings.items():
        known = values.setdefault(source, {})
        for thing, some in reading["objects"].items():
            known[thing] = {**known.get(thing, {}), **some}
        found[source] = {"time_ns": reading["time_ns"], "objects": dict(known)}
    return found


def figures_between(before: Snapshot, now: Snapshot) -> LiveFigures:
    """Computes the figures of the time between two snapshots."""
    ticks = now.ticks - before.ticks
    grown = {event: count - before.busy.get(event, 0) for event, count in now.busy.items()}
    sessions = {
        event: count / ticks
        for event, count in sorted(grown.items(), key=lambda item: (-item[1], item[0]))
        if count > 0 and ticks
    }
    tps = _rate(before, now, "cluster", "xact_commit")
    if tps is not None:
        own = now.own_transactions - before.own_transactions
        tps = max(tps - own * 1e9 / max(now.at_ns - before.at_ns, 1), 0.0)
    return LiveFigures(
        answers=ticks > 0,
        sessions=sessions,
        checkpoint=now.checkpointing > before.checkpointing,
        tps=tps,
        rollbacks=_rate(before, now, "cluster", "xact_rollback"),
        processors=_processors(before, now),
        read_bytes_s=_bytes(before, now, "sectors_read"),
        written_bytes_s=_bytes(before, now, "sectors_written"),
    )


def _processors(before: Snapshot, now: Snapshot) -> dict[str, float] | None:
    grown = dict(_grown(before, now, "stat", _PROCESSOR))
    times = {name: value for name, value in grown.items() if name not in _NOT_OWN}
    everything = sum(times.values())
    if everything <= 0 or _IDLE not in times:
        return None
    share = {name: 100.0 * value / everything for name, value in times.items()}
    iowait, steal = share.get(_WAITING, 0.0), share.get(_STOLEN, 0.0)
    found = {"busy": 100.0 - share[_IDLE] - iowait - steal, "iowait": iowait, "steal": steal}
    kinds = _objects(now, "processes")
    if not kinds or before.client_user_s is None or now.client_user_s is None:
        return found
    ours = 100.0 * (now.client_user_s - before.client_user_s)
    for kind in kinds:
        ours += dict(_grown(before, now, "processes", kind)).get("user_ticks", 0.0)
    others = sum(times.get(name, 0.0) for name in _USER_TICKS) - ours
    return {**found, "others": 100.0 * max(0.0, others) / everything}


def _bytes(before: Snapshot, now: Snapshot, name: str) -> float | None:
    """Of the disks themselves: a partition or mapping is written through to one."""
    if _reading_s(before, now, "diskstats") <= 0:
        return None
    disks = _objects(now, "diskstats")
    found = [
        rate for disk in whole_disks(disks) if (rate := _rate(before, now, "diskstats", name, disk))
    ]
    return sum(found) * _SECTOR if disks else None


def _rate(before: Snapshot, now: Snapshot, source: str, name: str, thing: str = "") -> float | None:
    seconds = _reading_s(before, now, source)
    grown = dict(_grown(before, now, source, thing)).get(name)
    return None if grown is None or seconds <= 0 else grown / seconds


def _grown(before: Snapshot, now: Snapshot, source: str, thing: str) -> Iterator[tuple[str, float]]:
    old, new = (_objects(snapshot, source).get(thing, {}) for snapshot in (before, now))
    for name, value in new.items():
        if name in old and value >= old[name]:
            yield name, value - old[name]


def _objects(snapshot: Snapshot, source: str) -> Mapping[str, Mapping[str, float]]:
    found: Mapping[str, Mapping[str, float]] = snapshot.readings.get(source, {}).get("objects", {})
    return found


def _reading_s(before: Snapshot, now: Snapshot, source: str) -> float:
    times = [snapshot.readings.get(source, {}).get("time_ns", 0) for snapshot in (before, now)]
    return (times[1] - times[0]) / 1e9 if all(times) else 0.0
