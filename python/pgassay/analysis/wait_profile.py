"""Sampled sessions → average active sessions by wait class.

Enters: the rows of waits.parquet, and where they were read the host's counters. Leaves: averages
over any window; with the host's, sessions on CPU are split from those in the queue for one.
Never: counts background processes or the samplers as work of the load.

Average active sessions (AAS) of a class is busy sessions per look, each look weighted by the time
that it stands for (`look_weights.py`); times the window, divided by
its transactions, it is the time one transaction spends so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.counters import CounterSeries
from pgassay.analysis.cpu_queue import OF_THE_LOAD, CpuQueue
from pgassay.analysis.look_weights import times_of_looks
from pgassay.analysis.metrics import WAIT_CLASSES, class_of

_CLASS_CODE = {wait_class.name: code for code, wait_class in enumerate(WAIT_CLASSES)}
_CPU, _CPU_QUEUE = _CLASS_CODE["cpu"], _CLASS_CODE["cpu_queue"]
_SPLIT_OVER_NS = 10_000_000_000
"""Ten samples of one second are too few to tell a queue from chance."""
Event = tuple[str | None, str | None]


def looks_in(table: pa.Table) -> NDArray[np.int64]:
    """When was looked, in order: a look that found nobody is a row too."""
    found: NDArray[np.int64] = np.sort(pc.unique(table["tick_ns"]).to_numpy())
    return found


class WaitProfile:
    """The sampled sessions of one trial."""

    def __init__(
        self,
        table: pa.Table,
        host: CounterSeries | None = None,
        *,
        since_ns: int | None = None,
        gaps: Sequence[tuple[int, int]] = (),
    ) -> None:
        """`since_ns`: when was looked last before; `gaps`: when nothing was seen."""
        self._gaps = gaps
        self._queue = CpuQueue(host)
        self.ticks_ns = looks_in(table)
        self._times_ns = times_of_looks(self.ticks_ns, since_ns, gaps)
        foreground = pc.fill_null(
            pc.is_in(table["backend_type"].cast(pa.string()), pa.array(OF_THE_LOAD)), False
        )
        busy = table.filter(foreground)
        self.busy_ns: NDArray[np.int64] = busy["tick_ns"].to_numpy()
        kinds, kind_codes = _encoded(busy["wait_event_type"])
        names, name_codes = _encoded(busy["wait_event"])
        codes = kind_codes * len(names) + name_codes
        seen = np.bincount(codes, minlength=1) > 0
        pairs = np.flatnonzero(seen)
        self.event_codes: NDArray[np.int64] = (np.cumsum(seen) - 1)[codes]
        self.events: list[Event] = [
            (kinds[code // len(names)], names[code % len(names)]) for code in pairs.tolist()
        ]
        classes = np.array([_CLASS_CODE[class_of(*event)] for event in self.events], np.int64)
        self.classes: NDArray[np.int64] = (
            classes[self.event_codes] if len(classes) else np.empty(0, np.int64)
        )
        self._busy_for_ns = self._times_ns[np.searchsorted(self.ticks_ns, self.busy_ns)]
        on_cpu = self.classes == _CPU
        per_tick = np.bincount(
            np.searchsorted(self.ticks_ns, self.busy_ns[on_cpu]), minlength=len(self.ticks_ns)
        )
        self._looked_ns = np.r_[0.0, np.cumsum(self._times_ns)]
        self._on_cpu_ns = np.r_[0.0, np.cumsum(self._times_ns * per_tick)]
        """Up to each tick: the time that looks stand for, and that of sessions on CPU."""

    @property
    def splits_cpu(self) -> bool:
        """Whether sessions on CPU are told from those in the queue for one."""
        return self._queue.is_known

    def average_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float] | None:
        """Busy sessions by wait class, averaged over a window's time; None without a tick."""
        (sessions,) = self.by_window(np.array([start_ns, end_ns]))
        if np.isnan(sessions[0]):
            return None
        return {
            wait_class.name: float(value)
            for wait_class, value in zip(WAIT_CLASSES, sessions, strict=True)
            if wait_class.name != "cpu_queue" or self.splits_cpu
        }

    def by_window(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same for windows side by side, windows × classes; NaN without a tick."""
        windows, classes = len(edges_ns) - 1, len(WAIT_CLASSES)
        looked_ns = self.looked_ns(edges_ns)
        within = np.searchsorted(edges_ns, self.busy_ns, side="right") - 1
        counts = (within >= 0) & (within < windows)
        found = np.bincount(
            within[counts] * classes + self.classes[counts],
            weights=self._busy_for_ns[counts],
            minlength=windows * classes,
        ).reshape(windows, classes)
        sessions = found / np.where(looked_ns > 0, looked_ns, np.nan)[:, None]
        in_queue = sessions[:, _CPU] * self._queued_share(edges_ns)
        sessions[:, _CPU] -= in_queue
        sessions[:, _CPU_QUEUE] += in_queue
        return sessions

    def looked_ns(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """How long the looks in each window stand for; 0 without a look."""
        found: NDArray[np.float64] = np.diff(
            self._looked_ns[np.searchsorted(self.ticks_ns, edges_ns)]
        )
        return found

    def _queued_share(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of each window's sessions on CPU, the share in its queue; seen over 10 s at least."""
        starts, ends = edges_ns[:-1].astype(np.int64), edges_ns[1:].astype(np.int64)
        if not self._queue.is_known or not len(self.ticks_ns):
            return np.zeros(len(starts))
        missing = np.maximum(_SPLIT_OVER_NS - (ends - starts), 0) // 2
        starts = np.maximum(starts - missing, min(starts[0], self.ticks_ns[0]))
        ends = np.minimum(ends + missing, max(ends[-1], self.ticks_ns[-1] + 1))
        first, last = (np.searchsorted(self.ticks_ns, at) for at in (starts, ends))
        looked_ns = self._looked_ns[last] - self._looked_ns[first]
        on_cpu_ns = self._on_cpu_ns[last] - self._on_cpu_ns[first]
        on_cpu = on_cpu_ns / np.where(looked_ns > 0, looked_ns, np.inf)
        waiting = self._queue.waiting(starts, ends, on_cpu, self._gaps)
        return np.asarray(waiting / np.where(on_cpu > 0.0, on_cpu, 1.0))

    def event_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float]:
        """The same by single event, such as `LWLock:WALWrite`; no event is `CPU` or `CPU queue`."""
        (looked_ns,) = self.looked_ns(np.array([start_ns, end_ns]))
        inside = (self.busy_ns >= start_ns) & (self.busy_ns < end_ns)
        busy_for_ns = np.bincount(
            self.event_codes[inside], weights=self._busy_for_ns[inside], minlength=len(self.events)
        )
        found = {
            f"{kind}:{name}" if kind else "CPU": float(spent_ns / looked_ns)
            for (kind, name), spent_ns in zip(self.events, busy_for_ns, strict=True)
            if spent_ns
        }
        (share,) = self._queued_share(np.array([start_ns, end_ns]))
        if share > 0.0 and "CPU" in found:
            found["CPU queue"] = found["CPU"] * float(share)
            found["CPU"] -= found["CPU queue"]
        return found


def _encoded(column: pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int64]]:
    """Its words, None among them, and a code for each row."""
    words = column.unify_dictionaries().combine_chunks()
    if isinstance(words, pa.ChunkedArray):
        words = words.chunk(0)
    known = words.dictionary.to_pylist()
    codes = pc.fill_null(words.indices, len(known)).to_numpy(zero_copy_only=False)
    return [*known, None], codes.astype(np.int64)
