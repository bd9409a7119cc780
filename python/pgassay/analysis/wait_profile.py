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

from pgassay.analysis.metrics import WAIT_CLASSES, class_of

_CLASS_CODE = {wait_class.name: code for code, wait_class in enumerate(WAIT_CLASSES)}
_OF_THE_LOAD = ("client backend", "parallel worker")


class WaitProfile:
    """The sampled sessions of one trial."""

    def __init__(self, table: pa.Table) -> None:
        ticks = table["tick_ns"].to_numpy()
        self.ticks_ns = np.unique(ticks)
        foreground = pc.fill_null(
            pc.is_in(table["backend_type"].cast(pa.string()), pa.array(_OF_THE_LOAD)), False
        ).to_numpy(zero_copy_only=False)
        kinds = table["wait_event_type"].cast(pa.string()).to_pylist()
        events = table["wait_event"].cast(pa.string()).to_pylist()
        self.busy_ns = ticks[foreground]
        self.events = [
            (kind, event)
            for kind, event, counts in zip(kinds, events, foreground, strict=True)
            if counts
        ]
        self.classes = np.array(
            [_CLASS_CODE[class_of(*event)] for event in self.events], dtype=np.int64
        )

    def average_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float] | None:
        """Busy sessions by wait class, averaged over a window's ticks; None without a tick."""
        ticks = np.count_nonzero((self.ticks_ns >= start_ns) & (self.ticks_ns < end_ns))
        if ticks == 0:
            return None
        inside = (self.busy_ns >= start_ns) & (self.busy_ns < end_ns)
        counts = np.bincount(self.classes[inside], minlength=len(WAIT_CLASSES))
        return {
            wait_class.name: float(counts[code]) / float(ticks)
            for code, wait_class in enumerate(WAIT_CLASSES)
        }

    def event_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float]:
        """The same by single event, such as `LWLock:WALWrite`; no event is `CPU`."""
        ticks = np.count_nonzero((self.ticks_ns >= start_ns) & (self.ticks_ns < end_ns))
        counts: dict[str, int] = {}
        for at, (kind, event) in zip(self.busy_ns, self.events, strict=True):
            if start_ns <= at < end_ns:
                name = f"{kind}:{event}" if kind else "CPU"
                counts[name] = counts.get(name, 0) + 1
        return {name: count / max(int(ticks), 1) for name, count in counts.items()}
