"""The host's state: kernel knobs, processors' heat and speed, room on its disks, its clock.

Enters: a host, the data directory, a process of its server. Leaves: the first lines of its files,
read by one command, here or over ssh, and a `HostState` made of them; what could not be read is
absent. Never: changes anything there, or judges it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.hosts.account import last_line
from pgassay.server.hosts.host import Host

LIMIT_S = 20.0
KERNEL = (
    "vm/dirty_ratio",
    "vm/dirty_bytes",
    "vm/dirty_background_ratio",
    "vm/dirty_background_bytes",
    "vm/dirty_expire_centisecs",
    "vm/dirty_writeback_centisecs",
    "vm/swappiness",
    "vm/vfs_cache_pressure",
    "vm/overcommit_memory",
    "vm/zone_reclaim_mode",
    "vm/nr_hugepages",
    "kernel/numa_balancing",
    "kernel/sched_autogroup_enabled",
    "kernel/sched_cfs_bandwidth_slice_us",
)
"""Below /proc/sys."""
_SHOWN = (
    *(f"/proc/pressure/{name}" for name in ("cpu", "io", "memory")),
    *(f"/proc/sys/{name}" for name in KERNEL),
    *(f"/sys/kernel/mm/transparent_hugepage/{name}" for name in ("enabled", "defrag")),
)
_HEADER = re.compile(r"==> (.*) <==")


@dataclass(frozen=True)
class HostReading:
    """What one reading of a host returned."""

    lines: Mapping[str, str]
    """By file, or by what host_reading.sh calls it: the first line; what is not there is absent."""

    @property
    def postmaster(self) -> int | None:
        return self.number("postmaster")

    def number(self, name: str) -> int | None:
        text = self.lines.get(name, "")
        return int(text) if text.isdigit() else None

    def named(self, ending: str) -> list[str]:
        """Returns the lines of all files whose name has this ending."""
        return [line for name, line in self.lines.items() if name.endswith(ending)]


def read_host(host: Host, data: Path | None, *, backend: int | None = None) -> HostReading:
    """Reads a host by one command, in one round trip. The server's first process is the parent of
    the backend.

    Raises TargetError where the host cannot be asked.
    """
    found = [str(word or "") for word in (data, backend)]
    done = host.run(["sh", "-c", _script(), "sh", *found, *_SHOWN], limit_s=LIMIT_S)
    lines = lines_of(done.stdout)
    if "clock 1" not in lines:
        raise TargetRefused("host-without-state", host=host.label, why=last_line(done))
    return HostReading(lines)


def lines_of(text: str) -> dict[str, str]:
    """Returns, by header, the line that follows it, if there is one."""
    found: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        header = _HEADER.fullmatch(line)
        if header is not None:
            name = header[1]
        elif name is not None:
            if line.strip():
                found[name] = line.strip()
            name = None
    return found


@cache
def _script() -> str:
    return (files(__package__) / "host_reading.sh").read_text("utf-8")


_UPTIME_STEP_NS = 10_000_000
"""/proc/uptime is in hundredths of a second."""


@dataclass(frozen=True)
class HostState:
    """The state of a host at one moment."""

    knobs: Mapping[str, str]
    throttled: int | None
    """How often the processors were slowed down for heat since the host started."""
    frequency_mhz: float | None
    disk_used: float | None
    """Share of the fullest file system that the server writes its data or WAL to."""
    clock_offset_ns: int | None = None
    """Its wall clock less the time since it started: it moves when the clock is set."""
    clock_error_ns: int = 0
    """By how much that may be off."""
    pressure_us: Mapping[str, int] = field(default_factory=dict)
    """By resource: how long some task has waited for it since the host started."""


def host_state(reading: HostReading) -> HostState:
    """Returns the state of the host that a reading found."""
    frequencies = _numbers(reading, "/scaling_cur_freq")
    throttled = _numbers(reading, "/core_throttle_count")
    offset, error = _clock(reading)
    return HostState(
        knobs=_knobs(reading),
        throttled=sum(throttled) if throttled else None,
        frequency_mhz=sum(frequencies) / len(frequencies) / 1e3 if frequencies else None,
        disk_used=_disk_used(reading),
        clock_offset_ns=offset,
        clock_error_ns=error,
        pressure_us=_pressure(reading),
    )


def _knobs(reading: HostReading) -> dict[str, str]:
    names = {name.replace("/", "."): f"/proc/sys/{name}" for name in KERNEL}
    for name in ("enabled", "defrag"):
        names[f"transparent_hugepage/{name}"] = f"/sys/kernel/mm/transparent_hugepage/{name}"
    found = {name: reading.lines[file] for name, file in names.items() if file in reading.lines}
    # Of the disks that hold the data and the WAL, such as `queue data scheduler`.
    found |= {name: line for name, line in reading.lines.items() if name.startswith("queue ")}
    governors = set(reading.named("/scaling_governor"))
    if governors:
        found["cpufreq governor"] = ", ".join(sorted(governors))
    return found


def _numbers(reading: HostReading, ending: str) -> list[int]:
    return [int(text) for text in reading.named(ending) if text.isdigit()]


def _disk_used(reading: HostReading) -> float | None:
    """As `df` counts it: what is kept for root is neither used nor free."""
    shares = []
    for name in ("disk data", "disk wal"):
        words = reading.lines.get(name, "").split()
        if len(words) != 3 or not all(word.isdigit() for word in words):
            continue
        blocks, free, available = map(int, words)
        used = blocks - free
        if used + available > 0:
            shares.append(used / (used + available))
    return max(shares, default=None)


def _clock(reading: HostReading) -> tuple[int | None, int]:
    """The reading least held up between the two clocks, and what it may be off by."""
    readings = []
    for turn in ("1", "2", "3"):
        words = reading.lines.get(f"clock {turn}", "").split()
        if len(words) != 3 or not words[1].isdigit():
            continue
        began, ended = (round(float(word) * 1e9) for word in (words[0], words[2]))
        readings.append((ended - began, int(words[1]) - (began + ended) // 2))
    if not readings:
        return None, 0
    held_up, offset = min(readings)
    return offset, held_up // 2 + _UPTIME_STEP_NS


def _pressure(reading: HostReading) -> dict[str, int]:
    found = {}
    for name in ("cpu", "io", "memory"):
        match = re.match(r"some .*total=(\d+)", reading.lines.get(f"/proc/pressure/{name}", ""))
        if match is not None:
            found[name] = int(match[1])
    return found
