"""What programs other than the server under test and pgassay use of the server's host.

Enters: two readings of the host's processes. Leaves: an `OtherPrograms`. Never: names more of a
program than the kernel's short name, or guesses what our account may not read.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from pgassay.errors import TargetError
from pgassay.server.hosts.host import Host
from pgassay.trials.host.processes import Grown, ProcessReading, grown_between, read_processes
from pgassay.trials.host.processor_times import ProcessorSplit, split_between

WATCHED_S = 2.0
"""How long a host is watched before the first trial."""
_MOST_NAMED = 3
_LEAST_SHARE = 0.005
"""Of all processors: a program that used less is not named."""
_KERNEL_THREADS = 2
"""The process whose children they are."""


@dataclass(frozen=True)
class Program:
    """All processes of one name."""

    name: str
    processors: float
    """Share of all processors, by user time."""


@dataclass(frozen=True)
class OtherPrograms:
    """What other programs used between two moments."""

    processors: float
    """Share of all processors, by user time."""
    programs: tuple[Program, ...]
    """Those that used most of it, the first most; without those that our account cannot see."""
    memory_bytes: int
    """Resident; memory that several processes share is counted for each."""
    disk_bytes_per_s: float | None
    """Read from disks and written to them; None where it is not known."""
    disk_from: Literal["processes", "disks", ""]
    """Whether that is what the processes themselves counted, or what the disks counted without
    the server's and pgassay's part, which the kernel may write later; empty if not known."""

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the programs."""
        return tuple(one.name for one in self.programs)

    def described(self) -> dict[str, Any]:
        """Returns the object of trial.json and environment.json."""
        return {
            "processors": round(self.processors, 4),
            "programs": [
                {"name": one.name, "processors": round(one.processors, 4)} for one in self.programs
            ],
            "memory_bytes": self.memory_bytes,
            "disk_bytes_per_s": self.disk_bytes_per_s and round(self.disk_bytes_per_s),
            "disk_from": self.disk_from,
        }


def other_programs(
    before: ProcessReading | None,
    after: ProcessReading | None,
    split: ProcessorSplit | None,
    postmasters: Collection[int] = (),
) -> OtherPrograms | None:
    """Returns what other programs used between two readings, whose processor time is split."""
    if before is None or after is None or split is None or split.all_s <= 0:
        return None
    grown = grown_between(before, after)
    ours = after.below(postmasters) | after.own
    others = grown.keys() - ours
    by_name: dict[str, float] = {}
    for pid in others:
        name = after.processes[pid].name
        by_name[name] = by_name.get(name, 0.0) + grown[pid].user_s / split.all_s
    largest = sorted(by_name.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NAMED]
    disk_bytes, disk_from = _disk_bytes(before, after, grown, ours)
    seconds = after.uptime_s - before.uptime_s
    return OtherPrograms(
        processors=split.foreign_share,
        programs=tuple(Program(name, share) for name, share in largest if share >= _LEAST_SHARE),
        memory_bytes=sum(after.processes[pid].resident_bytes for pid in others),
        disk_bytes_per_s=None if disk_bytes is None or seconds <= 0 else disk_bytes / seconds,
        disk_from=disk_from,
    )


class HostWatch:
    """Watches a host before the first trial; it begins when it is made."""

    def __init__(self, host: Host, backend: int | None = None) -> None:
        """`backend` is a process of the server under test, where that is up."""
        self._host, self._began_s = host, time.monotonic()
        self._before = self._read()
        known = None if self._before is None else self._before.processes.get(backend or 0)
        self._postmasters = [] if known is None else [known.parent]

    def used(
        self, least_s: float | None = None, servers: Collection[int] = ()
    ) -> OtherPrograms | None:
        """Returns what other programs have used, after `least_s` seconds at least, which are two
        unless given; None where the host does not say. `servers` are first processes of servers
        under test that became known meanwhile."""
        end_s = self._began_s + (WATCHED_S if least_s is None else least_s)
        time.sleep(max(0.0, end_s - time.monotonic()))
        after = self._read()
        servers = [*self._postmasters, *servers]
        split = split_between(self._before, after, servers)
        return other_programs(self._before, after, split, servers)

    def _read(self) -> ProcessReading | None:
        with suppress(TargetError):
            return read_processes(self._host)
        return None


def _disk_bytes(
    before: ProcessReading, after: ProcessReading, grown: dict[int, Grown], ours: set[int]
) -> tuple[int | None, Literal["processes", "disks", ""]]:
    """Of the others' own counters, where our account may read those of all that ran."""
    ran = {pid for pid, used in grown.items() if used.all_s > 0} | ours
    programs = ran - after.below({_KERNEL_THREADS})
    counted = {pid: one.io_bytes for pid, one in grown.items() if one.io_bytes is not None}
    if programs <= counted.keys():
        return sum(used for pid, used in counted.items() if pid not in ours), "processes"
    if before.disk_bytes is None or after.disk_bytes is None or not ours <= counted.keys():
        return None, ""
    own = sum(counted[pid] for pid in ours)
    return max(0, after.disk_bytes - before.disk_bytes - own), "disks"
