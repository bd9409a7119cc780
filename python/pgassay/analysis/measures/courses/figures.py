"""The figures of one trial at even intervals, in the words of vmstat, iostat and pg_expecto.

Enters: an `EvenSeries`, the limits of dirty pages that the host was set to. Leaves: a series for
each figure. Never: smooths one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.measures.courses.even_series import WAIT_TYPES, EvenSeries

Array = NDArray[np.float64]
Figures = Mapping[str, Array]

WAITINGS = "WAITINGS"
_CHANGED = ("tup_inserted", "tup_updated", "tup_deleted")
_ROWS = ("tup_fetched", *_CHANGED)
_CPU = {
    "us": ("cpu_user", "cpu_nice"),
    "sy": ("cpu_system", "cpu_irq", "cpu_softirq"),
    "id": ("cpu_idle",),
    "wa": ("cpu_iowait",),
    "st": ("cpu_steal",),
}
_SAME = {
    "commits": "commits",
    "hit": "hit",
    "read": "read",
    "b": "procs_blocked",
    "si": "pswpin",
    "so": "pswpout",
    "bi": "pgpgin",
    "bo": "pgpgout",
    "in": "intr",
    "cs": "ctxt",
    "dirty_kb": "mem_dirty_kb",
    "available_kb": "mem_available_kb",
    "free_kb": "mem_free_kb",
    "buff_kb": "mem_buffers_kb",
    "group_reached": "group_reached",
    "group_throttled": "group_throttled",
    "group_killed": "group_killed",
    "group_bytes": "group_bytes",
    "group_anon_bytes": "group_anon_bytes",
    "group_file_bytes": "group_file_bytes",
    "group_swap_bytes": "group_swap_bytes",
}
_BLOCK = 8192.0
_SECTORS_PER_MB = 2048.0


def figures(
    series: EvenSeries, width_s: float | None = None, vm: Mapping[str, Any] | None = None
) -> Figures:
    """Returns each figure whose counters were read; of longer intervals where a width is given.

    `vm`: the host's knobs, such as `vm.dirty_ratio`; without them dirty pages have no limits.
    """
    raw = series.values if width_s is None else series.averaged(width_s)
    found = {name: raw[source] for name, source in _SAME.items() if source in raw}
    if (speed := _sum(raw, ("commits", *_ROWS))) is not None:
        found["speed"] = 60.0 * speed
    if (changed := _sum(raw, _CHANGED)) is not None and "commits" in raw:
        found["changed"] = _ratio(changed, raw["commits"], np.nan)
    for name in WAIT_TYPES:
        if (waiting := raw.get(f"wait/{name}")) is not None:
            found[name] = waiting
    if (waiting := _sum(raw, [f"wait/{name}" for name in WAIT_TYPES])) is not None:
        found[WAITINGS] = waiting
    if "written_bytes" in raw:
        found["written"] = raw["written_bytes"] / _BLOCK
    elif "written_blocks" in raw:
        found["written"] = raw["written_blocks"]
    found |= _processors(raw)
    found |= _memory(raw)
    found |= _dirty_pages(raw, vm or {})
    for disk in series.disks:
        found |= _disk(raw, disk)
    return found


def _sum(raw: Figures, names: Sequence[str]) -> Array | None:
    """None where one of them was not read."""
    if any(name not in raw for name in names):
        return None
    total: Array = np.sum([raw[name] for name in names], axis=0)
    return total


def _processors(raw: Figures) -> dict[str, Array]:
    found: dict[str, Array] = {}
    if "procs_running" in raw:
        # The reading program itself is running; like vmstat, do not count it.
        found["r"] = np.maximum(raw["procs_running"] - 1.0, 0.0)
    every = _sum(raw, [name for names in _CPU.values() for name in names])
    if every is None:
        return found
    for column, names in _CPU.items():
        spent = _sum(raw, names)
        if spent is not None:
            found[column] = _ratio(100.0 * spent, every, np.nan)
    found["us+sy"] = found["us"] + found["sy"]
    return found


def _memory(raw: Figures) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, source in (("free", "mem_free_kb"), ("available", "mem_available_kb")):
        if source in raw and "mem_total_kb" in raw:
            found[name] = _ratio(100.0 * raw[source], raw["mem_total_kb"], np.nan)
    if (cached := _sum(raw, ("mem_cached_kb", "mem_reclaimable_kb"))) is not None:
        found["cache_kb"] = cached  # as vmstat has it
    if (slab := _sum(raw, ("mem_reclaimable_kb", "mem_unreclaimable_kb"))) is not None:
        found["slab_kb"] = slab
    if "swap_total_kb" in raw and "swap_free_kb" in raw:
        found["swap_kb"] = raw["swap_total_kb"] - raw["swap_free_kb"]
    return found | _group(raw)


def _group(raw: Figures) -> dict[str, Array]:
    """What the server's control group has left of its limit. Pages of files that were not used
    lately are given up first, so they count as available, as the kernel counts them for a host."""
    used, limit = raw.get("group_bytes"), raw.get("group_limit_bytes")
    if used is None or limit is None:
        return {}
    found = {"group_pct": _ratio(100.0 * used, limit, np.nan)}
    found["group_free"] = 100.0 - found["group_pct"]
    if "group_inactive_bytes" in raw:
        given_up = _ratio(100.0 * raw["group_inactive_bytes"], limit, np.nan)
        found["group_available"] = np.minimum(found["group_free"] + given_up, 100.0)
    return found


def _dirty_pages(raw: Figures, vm: Mapping[str, Any]) -> dict[str, Array]:
    """Dirty pages in per cent of each limit.

    The kernel reports its limits in pages, and counts pages under write-back towards the limit at
    which writers wait, not towards that of writing in the background (mm/page-writeback.c). Without
    its report they are bytes where set, else shares of available memory.
    """
    found: dict[str, Array] = {}
    for name, counted in (
        ("dirty_background", ("pages_dirty",)),
        ("dirty", ("pages_dirty", "pages_writeback")),
    ):
        pages = _sum(raw, counted)
        if pages is not None and f"{name}_limit" in raw:
            found[f"{name}_pct"] = _ratio(100.0 * pages, raw[f"{name}_limit"], np.nan)
        elif "mem_dirty_kb" in raw and (limit := _limit_kb(raw, vm, name)) is not None:
            found[f"{name}_pct"] = _ratio(100.0 * raw["mem_dirty_kb"], limit, np.nan)
    return found


def _limit_kb(raw: Figures, vm: Mapping[str, Any], name: str) -> Array | None:
    set_bytes, ratio = (_number(vm.get(f"vm.{name}_{kind}")) for kind in ("bytes", "ratio"))
    if set_bytes:
        return np.full_like(raw["mem_dirty_kb"], set_bytes / 1024.0)
    available = raw.get("mem_available_kb")
    return None if not ratio or available is None else available * ratio / 100.0


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _disk(raw: Figures, disk: str) -> dict[str, Array]:
    """As in iostat -x; a wait is 0 where nothing was done."""
    found: dict[str, Array] = {}

    def of(name: str) -> Array | None:
        return raw.get(f"{disk}/{name}")

    for kind, done, spent in (("r", "reads", "read_ms"), ("w", "writes", "write_ms")):
        count, time = of(done), of(spent)
        if count is not None:
            found[f"{disk}/{done}"] = count
        if count is not None and time is not None:
            found[f"{disk}/{kind}_await"] = _ratio(time, count, 0.0)
    if (iops := _sum(raw, (f"{disk}/reads", f"{disk}/writes"))) is not None:
        found[f"{disk}/iops"] = iops
    if (moved := _sum(raw, (f"{disk}/sectors_read", f"{disk}/sectors_written"))) is not None:
        found[f"{disk}/MB"] = moved / _SECTORS_PER_MB
    if (busy := of("busy_ms")) is not None:
        found[f"{disk}/util"] = np.minimum(busy / 10.0, 100.0)
    if (queued := of("queued_ms")) is not None:
        found[f"{disk}/aqu-sz"] = queued / 1e3
    return found


def _ratio(value: Array, by: Array, empty: float) -> Array:
    """`empty` where there is nothing to divide by; NaN stays."""
    found: Array = np.divide(
        value, by, out=np.where(by == 0.0, empty, np.nan), where=np.isfinite(by) & (by > 0.0)
    )
    return found
