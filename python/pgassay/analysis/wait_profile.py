"""Sampled sessions → average active sessions by wait class.

Enters: the rows of waits.parquet. Leaves: averages over any window.
Never: counts background processes or the samplers as work of the load.

Average active sessions (AAS) of a class is busy sessions per tick; times the window, divided by
its transactions, it is the time one transaction spends so.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.metrics import WAIT_CLASSES, class_of

_CLASS_CODE = {wait_class.name: code for code, wait_class in enumerate(WAIT_CLASSES)}
_OF_THE_LOAD = ("client backend", "parallel worker")
Event = tuple[str | None, str | None]


class WaitProfile:
    """The sampled sessions of one trial."""

    def __init__(self, table: pa.Table) -> None:
        self.ticks_ns: NDArray[np.int64] = np.unique(table["tick_ns"].to_numpy())
        foreground = pc.fill_null(
            pc.is_in(table["backend_type"].cast(pa.string()), pa.array(_OF_THE_LOAD)), False
        )
        busy = table.filter(foreground)
        self.busy_ns: NDArray[np.int64] = busy["tick_ns"].to_numpy()
        kinds, kind_codes = _encoded(busy["wait_event_type"])
        names, name_codes = _encoded(busy["wait_event"])
        pairs, self.event_codes = np.unique(
            kind_codes * len(names) + name_codes, return_inverse=True
        )
        self.events: list[Event] = [
            (kinds[code // len(names)], names[code % len(names)]) for code in pairs.tolist()
        ]
        classes = np.array([_CLASS_CODE[class_of(*event)] for event in self.events], np.int64)
        self.classes: NDArray[np.int64] = (
            classes[self.event_codes] if len(classes) else np.empty(0, np.int64)
        )

    def average_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float] | None:
        """Busy sessions by wait class, averaged over a window's ticks; None without a tick."""
        (sessions,) = self.by_window(np.array([start_ns, end_ns]))
        if np.isnan(sessions[0]):
            return None
        return {
            wait_class.name: float(value)
            for wait_class, value in zip(WAIT_CLASSES, sessions, strict=True)
        }

    def by_window(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for windows side by side, windows × classes; NaN without a tick."""
        windows, classes = len(edges_ns) - 1, len(WAIT_CLASSES)
        ticks = np.diff(np.searchsorted(self.ticks_ns, edges_ns))
        within = np.searchsorted(edges_ns, self.busy_ns, side="right") - 1
        counts = (within >= 0) & (within < windows)
        found = np.bincount(
            within[counts] * classes + self.classes[counts], minlength=windows * classes
        ).reshape(windows, classes)
        return np.where(ticks[:, None] > 0, found / np.maximum(ticks, 1)[:, None], np.nan)

    def event_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float]:
        """The same by single event, such as `LWLock:WALWrite`; no event is `CPU`."""
        ticks = np.count_nonzero((self.ticks_ns >= start_ns) & (self.ticks_ns < end_ns))
        inside = (self.busy_ns >= start_ns) & (self.busy_ns < end_ns)
        counts = np.bincount(self.event_codes[inside], minlength=len(self.events))
        return {
            f"{kind}:{name}" if kind else "CPU": float(count) / max(int(ticks), 1)
            for (kind, name), count in zip(self.events, counts, strict=True)
            if count
        }


def _encoded(column: pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int64]]:
    """Its words, None among them, and a code for each row."""
    words = column.unify_dictionaries().combine_chunks()
    if isinstance(words, pa.ChunkedArray):
        words = words.chunk(0)
    known = words.dictionary.to_pylist()
    codes = pc.fill_null(words.indices, len(known)).to_numpy(zero_copy_only=False)
    return [*known, None], codes.astype(np.int64)
