"""The columns of vmstat and iostat, computed from the kernel's raw counters.

Enters: a trial's host counters. Leaves: `HostWindow` values for any windows, in the programs'
units. Never: bridges a counter that decreased; a figure without its counters is None.

Columns mean what vmstat(8) of procps-ng and iostat(1) of sysstat say. Sizes of vmstat are KiB,
its rates a second; iostat's sizes are kB, its waits milliseconds per request.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.host.model import HostWindow
from pgassay.notes import terms_of

if TYPE_CHECKING:  # loads pyarrow, which showing stored figures does not need
    from pgassay.analysis.reading.counters import CounterSeries


@dataclass(frozen=True)
class Column:
    """One column of vmstat or iostat."""

    column: str
    title: str
    """A heading in plain words."""
    unit: str
    digits: int


def _read_columns() -> Mapping[str, tuple[Column, ...]]:
    found = terms_of(
        tomllib.loads((files(__package__) / "host_columns.toml").read_text("utf-8")),
        ("title", "unit"),
    )
    return {
        program: tuple(Column(**column) for column in columns) for program, columns in found.items()
    }


COLUMNS = _read_columns()
"""`vmstat` and `iostat` → their columns in order."""
_CPU = {
    "us": ("user", "nice"),
    "sy": ("system", "irq", "softirq"),
    "id": ("idle",),
    "wa": ("iowait",),
    "st": ("steal",),
}
_KINDS = {
    "r": ("reads_completed", "reads_merged", "sectors_read", "read_ms"),
    "w": ("writes_completed", "writes_merged", "sectors_written", "write_ms"),
    "d": ("discards_completed", "discards_merged", "sectors_discarded", "discard_ms"),
}
_PAGES_KIB = (4, 8, 16, 64)
"""Page sizes of Linux; swapping is counted in pages."""
_PAGES_OFF = 0.3
"""How far two files that are read in succession may differ."""
_SECTORS_PER_KB = 2


class HostColumns:
    """The host of one trial, as vmstat and iostat show it."""

    def __init__(self, counters: CounterSeries) -> None:
        self._counters = counters
        keys = list(counters.keys())
        self.devices = sorted({o for source, o, _ in keys if source == "diskstats"})
        self._readings = {
            program: _times(counters, source)
            for program, source in (("vmstat", "stat"), ("iostat", "diskstats"))
        }

    def readings(self, program: str) -> list[int]:
        """Returns when (ns) a program's first file was read: the edges of the shortest windows."""
        return [int(at) for at in self._readings[program]]

    def windows(self, edges_ns: Sequence[int]) -> list[HostWindow]:
        """Returns the rates over each window between two adjacent edges (ns)."""
        return [self.window(start, end) for start, end in itertools.pairwise(edges_ns)]

    def window(self, start_ns: int, end_ns: int) -> HostWindow:
        """Rates over a window; tasks and sizes are means of the readings in it."""
        return HostWindow(
            start_ns,
            end_ns,
            self._vmstat(start_ns, end_ns),
            {device: self._iostat(device, start_ns, end_ns) for device in self.devices},
        )

    def _vmstat(self, start: int, end: int) -> dict[str, float | None]:
        seconds = (end - start) / 1e9
        found: dict[str, float | None] = {}
        running = self._level("stat", "procs_running", start, end)
        # The reading program itself is running; like vmstat, do not count it.
        found["r"] = None if running is None else max(0.0, running - 1)
        found["b"] = self._level("stat", "procs_blocked", start, end)
        swap = self._sum_of_levels(("SwapTotal",), start, end)
        unused = self._sum_of_levels(("SwapFree",), start, end)
        found["swpd"] = None if swap is None or unused is None else swap - unused
        found["free"] = self._sum_of_levels(("MemFree",), start, end)
        found["buff"] = self._sum_of_levels(("Buffers",), start, end)
        found["cache"] = self._sum_of_levels(("Cached", "SReclaimable"), start, end)
        for column, name in (("si", "pswpin"), ("so", "pswpout")):
            found[column] = self._swapped(name, start, end)
        for column, source, name in (
            ("bi", "vmstat", "pgpgin"),
            ("bo", "vmstat", "pgpgout"),
            ("in", "stat", "intr"),
            ("cs", "stat", "ctxt"),
        ):
            grown = self._counters.increase((source, "", name), start, end)
            found[column] = None if grown is None else grown / seconds
        spent = {column: self._ticks(names, start, end) for column, names in _CPU.items()}
        known = [ticks for ticks in spent.values() if ticks is not None]
        everything = sum(known) if len(known) == len(spent) else 0.0
        for column, ticks in spent.items():
            found[column] = None if not everything or ticks is None else 100 * ticks / everything
        return found

    def _swapped(self, name: str, start: int, end: int) -> float | None:
        """KiB a second; zero pages need no page size."""
        pages = self._counters.increase(("vmstat", "", name), start, end)
        if not pages:
            return pages
        page_kib = self.page_kib
        return None if page_kib is None else pages * page_kib / ((end - start) / 1e9)

    @cached_property
    def page_kib(self) -> int | None:
        """The page size, from dirty memory, which the kernel reports in kB and in pages.

        None where there was too little of it, or the ratio fits no page size.
        """
        at = self._readings["vmstat"]
        kib, pages = (
            self._counters.levels((source, "", name), at)
            for source, name in (("meminfo", "Dirty"), ("vmstat", "nr_dirty"))
        )
        if not len(kib) or not pages.sum():
            return None
        page = kib.mean() / pages.mean()
        return next((size for size in _PAGES_KIB if abs(page / size - 1) < _PAGES_OFF), None)

    def _iostat(self, device: str, start: int, end: int) -> dict[str, float | None]:
        seconds = (end - start) / 1e9

        def grown(name: str) -> float | None:
            return self._counters.increase(("diskstats", device, name), start, end)

        found: dict[str, float | None] = {}
        for kind, names in _KINDS.items():
            done, merged, sectors, spent_ms = (grown(name) for name in names)
            kilobytes = None if sectors is None else sectors / _SECTORS_PER_KB
            both = None if done is None or merged is None else done + merged
            found[f"{kind}/s"] = _per(done, seconds)
            found[f"{kind}kB/s"] = _per(kilobytes, seconds)
            found[f"{kind}rqm/s"] = _per(merged, seconds)
            found[f"%{kind}rqm"] = _percent(_per(merged, both))
            found[f"{kind}_await"] = _per(spent_ms, done)
            found[f"{kind}areq-sz"] = _per(kilobytes, done)
        flushes = grown("flushes_completed")
        found["f/s"] = _per(flushes, seconds)
        found["f_await"] = _per(grown("flush_ms"), flushes)
        found["aqu-sz"] = _per(grown("weighted_io_ms"), seconds * 1e3)
        busy = _percent(_per(grown("io_ms"), seconds * 1e3))
        found["%util"] = None if busy is None else min(busy, 100.0)
        return {column.column: found[column.column] for column in COLUMNS["iostat"]}

    def _ticks(self, names: Sequence[str], start: int, end: int) -> float | None:
        grown = [self._counters.increase(("stat", "cpu", name), start, end) for name in names]
        known = [ticks for ticks in grown if ticks is not None]
        return sum(known) if len(known) == len(names) else None

    def _sum_of_levels(self, names: Sequence[str], start: int, end: int) -> float | None:
        levels = [self._level("meminfo", name, start, end) for name in names]
        known = [level for level in levels if level is not None]
        return sum(known) if len(known) == len(names) else None

    def _level(self, source: str, name: str, start: int, end: int) -> float | None:
        """The mean of a size over the readings of a window."""
        return self._counters.mean_level((source, "", name), start, end)


def _times(counters: CounterSeries, source: str) -> NDArray[np.int64]:
    times = [counters.points(key)[0] for key in counters.keys() if key[0] == source]  # noqa: SIM118
    return np.unique(np.concatenate(times)) if times else np.empty(0, np.int64)


def _per(value: float | None, by: float | None) -> float | None:
    """A ratio; 0 where nothing was done, as in iostat."""
    if value is None or by is None:
        return None
    return value / by if by else 0.0


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
