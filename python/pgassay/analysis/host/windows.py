"""Host windows merged over the segments of an observation.

Enters: windows in the columns of vmstat and iostat. Leaves: fewer and longer ones. Never: bridges a
time in which the host was not read, or averages a per-request figure without its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pgassay.analysis.host.columns import HostColumns
from pgassay.analysis.host.model import Figures, HostWindow
from pgassay.analysis.reading.counters import CounterSeries
from pgassay.samples.stored_parts import StoredPart

MOST_WINDOWS = 12
"""Rows that a table may have."""
_SHORTEST_NS = 2_000_000_000
"""Shortest window: the host is read each second."""
_PER_REQUEST = {
    **{f"{kind}_await": (f"{kind}/s",) for kind in "rwdf"},
    **{f"{kind}areq-sz": (f"{kind}/s",) for kind in "rwd"},
    **{f"%{kind}rqm": (f"{kind}/s", f"{kind}rqm/s") for kind in "rwd"},
}
"""iostat columns that are per request → the columns that count these requests."""
_GAP_S = 5.0
_GAP_PERIODS = 5
"""A pause is a gap when it is longer than both."""
_ONE_READING_NS = 500_000_000


def merged(windows: Sequence[HostWindow]) -> HostWindow:
    """Merges several windows into one, weighted by length or by requests."""
    devices = sorted({device for window in windows for device in window.iostat})
    return HostWindow(
        min(window.start_ns for window in windows),
        max(window.end_ns for window in windows),
        _mean([(w, w.vmstat) for w in windows]),
        {d: _mean([(w, w.iostat[d]) for w in windows if d in w.iostat]) for d in devices},
    )


def _mean(parts: Sequence[tuple[HostWindow, Figures]]) -> Figures:
    return {column: _column(column, parts) for column in parts[0][1]}


def _column(column: str, parts: Sequence[tuple[HostWindow, Figures]]) -> float | None:
    total = weight = 0.0
    for window, figures in parts:
        value = figures[column]
        if value is None:
            continue
        rates = [figures[name] or 0.0 for name in _PER_REQUEST.get(column, ())]
        own = float(window.end_ns - window.start_ns) * (sum(rates) if rates else 1.0)
        total, weight = total + own * value, weight + own
    if weight:
        return total / weight
    # No request at all: zero, as iostat shows.
    return 0.0 if any(figures[column] is not None for _, figures in parts) else None


class HostCourse:
    """A host over a long time, added in pieces and kept as windows of equal length."""

    def __init__(self, start_ns: int, end_ns: int) -> None:
        windows = max(1, min(MOST_WINDOWS, (end_ns - start_ns) // _SHORTEST_NS))
        self._edges = np.linspace(start_ns, end_ns, windows + 1).astype(np.int64)
        self._parts: dict[int, list[HostWindow]] = {}

    def add(self, counters: CounterSeries) -> None:
        """Add the counters of one piece."""
        columns = HostColumns(counters)
        readings = np.array(columns.readings("vmstat"), dtype=np.int64)
        pauses = np.diff(readings)
        if not len(pauses):
            return
        longest = max(_GAP_S * 1e9, _GAP_PERIODS * float(np.median(pauses)))
        for seen in np.split(readings, np.flatnonzero(pauses > longest) + 1):
            first, last = int(seen[0]), int(seen[-1])
            inside = self._edges[(self._edges > first) & (self._edges < last)]
            edges = [first, *inside.tolist(), last] if last > first else []
            for window in columns.windows(edges):
                middle = (window.start_ns + window.end_ns) // 2
                at = int(np.searchsorted(self._edges, middle, side="right"))
                self._parts.setdefault(at, []).append(window)

    def windows(self) -> tuple[HostWindow, ...]:
        """The windows in order of time, without those in which the host was not read."""
        return tuple(merged(parts) for _, parts in sorted(self._parts.items()))

    def whole(self) -> HostWindow | None:
        """Returns all windows as one; None where the host was not read."""
        parts = [part for parts in self._parts.values() for part in parts]
        return merged(parts) if parts else None


def finest_windows(stretches: Iterable[StoredPart], program: str) -> list[HostWindow]:
    """Windows from reading to reading of a program's first file, across segments."""
    found: list[HostWindow] = []
    before: pa.Table | None = None
    for stretch in stretches:
        table = stretch.table("host")
        goes_on = [table] if before is None else [before, table]
        columns = HostColumns(CounterSeries(pa.concat_tables(goes_on)))
        readings = columns.readings(program)
        if not readings:
            continue
        found += columns.windows(readings)
        # Each segment ends with a reading of everything.
        before = table.filter(pc.greater(table["time_ns"], readings[-1] - _ONE_READING_NS))
    return found
