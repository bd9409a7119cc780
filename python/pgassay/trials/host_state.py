"""The host's own state: kernel knobs, processors' heat and speed, room on its disks.

Enters: /proc, /sys, the data directory. Leaves: a `HostState`; what cannot be read is absent.
Never: changes a knob.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_VM = (
    "dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes",
    "dirty_expire_centisecs", "dirty_writeback_centisecs", "swappiness", "vfs_cache_pressure",
    "overcommit_memory", "zone_reclaim_mode", "nr_hugepages",
)  # fmt: skip
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")
_CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class HostState:
    """The host at one moment."""

    knobs: Mapping[str, str]
    throttled: int | None
    """How often the processors were slowed down for heat since the host started."""
    frequency_mhz: float | None
    disk_used: float | None
    """Share of the fullest file system that the server writes its data or WAL to."""


def host_state(data: Path | None) -> HostState:
    """A look at this host."""
    frequencies = _numbers("cpu[0-9]*/cpufreq/scaling_cur_freq")
    throttled = _numbers("cpu[0-9]*/thermal_throttle/core_throttle_count")
    return HostState(
        knobs=_knobs(),
        throttled=sum(throttled) if throttled else None,
        frequency_mhz=sum(frequencies) / len(frequencies) / 1e3 if frequencies else None,
        disk_used=_disk_used(data),
    )


def _knobs() -> dict[str, str]:
    paths = {f"vm.{name}": Path("/proc/sys/vm") / name for name in _VM}
    paths |= {f"transparent_hugepage/{name}": _HUGE_PAGES / name for name in ("enabled", "defrag")}
    found = {name: text for name, path in paths.items() if (text := _text(path)) is not None}
    governors = {_text(path) for path in _CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")} - {None}
    if governors:
        found["cpufreq governor"] = ", ".join(sorted(map(str, governors)))
    return found


def _numbers(pattern: str) -> list[int]:
    texts = (_text(path) for path in _CPUS.glob(pattern))
    return [int(text) for text in texts if text is not None and text.isdigit()]


def _disk_used(data: Path | None) -> float | None:
    """As `df` counts it: what is kept for root is neither used nor free."""
    if data is None:
        return None
    shares = []
    for path in (data, data / "pg_wal"):
        try:
            disk = os.statvfs(path)
        except OSError:
            continue
        used = disk.f_blocks - disk.f_bfree
        if used + disk.f_bavail > 0:
            shares.append(used / (used + disk.f_bavail))
    return max(shares, default=None)


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return None
