"""What bpftrace prints, as readings on the run's time axis.

Enters: lines of `bpftrace -f json`, in their order. Leaves: for each second what every point
counted in it; phases of checkpoints; what was lost. Never: keeps more than the last reading.

bpftrace's maps only grow, so that nothing is lost between reading and clearing one; what a second
adds is the difference of two readings. The first of them is where a trace begins: until then
bpftrace sets its probes one by one, and ends are met whose beginnings were not. Its clock is the
time since boot; the distance to Unix time is taken once, at the beginning.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_CLOCKS = (time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC)
"""What `nsecs` may be, by the version of bpftrace; they differ once a machine has slept."""
_RELATIONS = "_relation"


@dataclass(frozen=True)
class PointReading:
    """What one point counted in one reading's time, for one key: a lock, a kind of relation."""

    point: str
    key: str
    count: int
    total_ns: int
    buckets: Mapping[int, int]
    """Lower bound in microseconds, a power of two or 0 → how many."""


@dataclass(frozen=True)
class Reading:
    """What was counted in about one second."""

    start_ns: int
    end_ns: int
    points: tuple[PointReading, ...]


@dataclass(frozen=True)
class PhaseEvent:
    """A phase of a checkpoint begins or ends."""

    phase: str
    begins: bool
    time_ns: int
    flags: int


@dataclass(frozen=True)
class RelationTime:
    """What one point counted for one relation, over the whole trace."""

    point: str
    database: int
    file: int
    count: int
    total_ns: int


@dataclass
class Output:
    """Reads the lines of bpftrace; `finish` reads what bpftrace prints when it ends."""

    attached: bool = False
    """All probes are set, and the first reading is taken."""
    offset_ns: int | None = None
    """Unix time minus bpftrace's clock."""
    phases: list[PhaseEvent] = field(default_factory=list)
    unmatched: dict[str, int] = field(default_factory=dict)
    """Point → ends without a beginning and beginnings without an end."""
    relations: list[RelationTime] = field(default_factory=list)
    lost_events: int = 0
    complaints: list[str] = field(default_factory=list)
    _maps: dict[str, Any] = field(default_factory=dict)
    _unmatched_before: Counter[str] = field(default_factory=Counter)
    _seen: dict[tuple[str, str], tuple[int, Counter[int]]] = field(default_factory=dict)
    _from_ns: int | None = None
    _at_ns: int | None = None

    def feed(self, line: str) -> Reading | None:
        """Reads one line; returns the reading that it completes."""
        try:
            record = json.loads(line)
        except ValueError:
            if line.strip():
                self.complaints.append(line.strip())
            return None
        kind, data = record.get("type"), record.get("data")
        match kind:
            case "printf":
                return self._said(str(data).split())
            case "hist" | "map" | "stats":
                self._maps |= data
            case "lost_events":
                self.lost_events += int(data["events"])
        return None

    def _said(self, words: list[str]) -> Reading | None:
        match words:
            case ["begin", at]:
                self._begin(int(at))
            case ["tick" | "end", at]:
                self._maps = {}
                self._at_ns = int(at)
            case ["taken"]:
                return self._taken()
            case ["phase", phase, state, at, flags]:
                self.phases.append(
                    PhaseEvent(phase, state == "start", self._unix(int(at)), int(flags))
                )
        return None

    def _begin(self, at: int) -> None:
        now = time.time_ns()
        distances = [now - time.clock_gettime_ns(clock) for clock in _CLOCKS]
        # The line has taken a moment to get here, so the clock is the one that fits best.
        self.offset_ns = min(distances, key=lambda offset: abs(now - offset - at))

    def _unix(self, at: int) -> int:
        return at + (self.offset_ns or 0)

    def _taken(self) -> Reading | None:
        start, end = self._from_ns, self._at_ns
        if end is None:
            return None
        self._from_ns, self._at_ns = end, None
        points, unmatched = tuple(self._differences()), Counter(self._maps.get("@unmatched") or {})
        if start is None:
            self.attached = True
            self._unmatched_before = unmatched
            return None
        self.unmatched = dict(unmatched - self._unmatched_before)
        return Reading(self._unix(start), self._unix(end), points)

    def _differences(self) -> Iterator[PointReading]:
        for name, found in self._maps.items():
            point = name.removeprefix("@")
            if not isinstance(found, dict) or f"{name}_ns" not in self._maps:
                continue
            totals = self._maps[f"{name}_ns"]
            for key, rows in found.items():
                total = int(totals.get(key, 0))
                buckets = Counter({int(row["min"]): int(row["count"]) for row in rows})
                before_ns, before = self._seen.get((point, key), (0, Counter()))
                self._seen[point, key] = total, buckets
                added = {us: n - before[us] for us, n in sorted(buckets.items()) if n > before[us]}
                if added:
                    yield PointReading(
                        point, key, sum(added.values()), max(total - before_ns, 0), added
                    )

    def finish(self) -> None:
        """Reads what bpftrace prints at its end. The counts since the last second are not taken:
        bpftrace takes its probes off one by one before it prints them."""
        for name, found in self._maps.items():
            if name.endswith(_RELATIONS) and isinstance(found, dict):
                self.relations += _relations(name.removeprefix("@").removesuffix(_RELATIONS), found)


def _relations(point: str, found: Mapping[str, Any]) -> Iterator[RelationTime]:
    for key, stats in found.items():
        database, file = (int(part) for part in key.split(","))
        yield RelationTime(point, database, file, int(stats["count"]), int(stats["total"]))
