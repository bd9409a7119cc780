"""The host's own state: kernel knobs, processors' heat and speed, room on its disks, its clock.

Enters: a look at the host. Leaves: a `HostState`; what could not be read is absent.
Never: asks the host anything, or changes a knob.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pgassay.trials.host_look import KERNEL, HostLook

_UPTIME_STEP_NS = 10_000_000
"""/proc/uptime is in hundredths of a second."""


@dataclass(frozen=True)
class HostState:
    """The host at one moment."""

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


def host_state(look: HostLook) -> HostState:
    """What a look says of the host itself."""
    frequencies = _numbers(look, "/scaling_cur_freq")
    throttled = _numbers(look, "/core_throttle_count")
    offset, error = _clock(look)
    return HostState(
        knobs=_knobs(look),
        throttled=sum(throttled) if throttled else None,
        frequency_mhz=sum(frequencies) / len(frequencies) / 1e3 if frequencies else None,
        disk_used=_disk_used(look),
        clock_offset_ns=offset,
        clock_error_ns=error,
        pressure_us=_pressure(look),
    )


def _knobs(look: HostLook) -> dict[str, str]:
    names = {name.replace("/", "."): f"/proc/sys/{name}" for name in KERNEL}
    for name in ("enabled", "defrag"):
        names[f"transparent_hugepage/{name}"] = f"/sys/kernel/mm/transparent_hugepage/{name}"
    found = {name: look.lines[file] for name, file in names.items() if file in look.lines}
    # Of the disks that hold the data and the WAL, such as `queue data scheduler`.
    found |= {name: line for name, line in look.lines.items() if name.startswith("queue ")}
    governors = set(look.named("/scaling_governor"))
    if governors:
        found["cpufreq governor"] = ", ".join(sorted(governors))
    return found


def _numbers(look: HostLook, ending: str) -> list[int]:
    return [int(text) for text in look.named(ending) if text.isdigit()]


def _disk_used(look: HostLook) -> float | None:
    """As `df` counts it: what is kept for root is neither used nor free."""
    shares = []
    for name in ("disk data", "disk wal"):
        words = look.lines.get(name, "").split()
        if len(words) != 3 or not all(word.isdigit() for word in words):
            continue
        blocks, free, available = map(int, words)
        used = blocks - free
        if used + available > 0:
            shares.append(used / (used + available))
    return max(shares, default=None)


def _clock(look: HostLook) -> tuple[int | None, int]:
    """The reading least held up between the two clocks, and what it may be off by."""
    readings = []
    for turn in ("1", "2", "3"):
        words = look.lines.get(f"clock {turn}", "").split()
        if len(words) != 3 or not words[1].isdigit():
            continue
        began, ended = (round(float(word) * 1e9) for word in (words[0], words[2]))
        readings.append((ended - began, int(words[1]) - (began + ended) // 2))
    if not readings:
        return None, 0
    held_up, offset = min(readings)
    return offset, held_up // 2 + _UPTIME_STEP_NS


def _pressure(look: HostLook) -> dict[str, int]:
    found = {}
    for name in ("cpu", "io", "memory"):
        match = re.match(r"some .*total=(\d+)", look.lines.get(f"/proc/pressure/{name}", ""))
        if match is not None:
            found[name] = int(match[1])
    return found
