"""Average active sessions by wait class, from sampled sessions; by event, from pg_wait_sampling.

Enters: the rows of waits.parquet, and the host's counters where they were read. Leaves: averages
over any window; with host counters, running sessions are separated from queued ones.
Never: counts background processes, the samplers, or time in which the server did not answer.

Samples are not evenly spaced: the sampler pauses after a slow answer, and is late when the server
hangs. Counted equally, slow phases would weigh too little. So each sample represents the time that
is nearer to it than to any other. Average active sessions (AAS) of a class are its busy sessions
per sample, weighted so. AAS times the window, divided by its transactions, is the time that one
transaction spends in the class.

The profile of the extension pg_wait_sampling, which samples a hundred times a second by default, is
read at the beginning and the end. It does not distinguish idle sessions, so of CPU and client waits
there is nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.analysis.reading.metrics import WAIT_CLASSES, class_of
from pgassay.analysis.waits.cpu_queue import OF_THE_LOAD, WORKER, CpuQueue
from pgassay.notes import Term
from pgassay.trials.sampling.queries import READ, WAITS

Times = NDArray[np.int64]
Floats = NDArray[np.float64]

LONGEST_NS = 130 * 10**9
"""The sampler pauses for a minute at most; a longer pause is a gap."""
_LEAST_NS = 10**6
"""Least weight: a single sample between two gaps still counts."""


def usual_ns(ticks_ns: Times) -> float:
    """The median pause between samples; 0 with too few of them."""
    return float(np.median(np.diff(ticks_ns))) if len(ticks_ns) > 2 else 0.0


def times_of_looks(
    ticks_ns: Times, since_ns: int | None = None, gaps: Sequence[tuple[int, int]] = ()
) -> Floats:
    """The weight of each sample in ns: half of the pauses before and after it.

    Where the segment before ended at `since_ns`, the first sample has all of the pause since then.
    Beside a gap or at an end a sample has half of the usual pause.
    """
    if not len(ticks_ns):
        return np.zeros(0)
    half = usual_ns(ticks_ns) / 2
    pauses = np.diff(ticks_ns)
    shares = np.r_[half, np.where(_unseen(ticks_ns, gaps), half, pauses / 2), half]
    if since_ns is not None:
        first = np.array([min(since_ns, ticks_ns[0]), ticks_ns[0]])
        if not _unseen(first, gaps)[0]:
            shares[0] = first[1] - first[0]
    times: Floats = shares[:-1] + shares[1:]
    if since_ns is not None:
        times[-1] -= half  # the next stretch has it
    return np.maximum(times, _LEAST_NS)


def _unseen(times_ns: Times, gaps: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Which pauses are gaps."""
    found: NDArray[np.bool_] = np.diff(times_ns) > LONGEST_NS
    for begin, end in gaps:
        found |= (times_ns[:-1] < end) & (times_ns[1:] > begin)
    return found


_CLASS_CODE = {wait_class.name: code for code, wait_class in enumerate(WAIT_CLASSES)}
_CPU, _CPU_QUEUE = _CLASS_CODE["cpu"], _CLASS_CODE["cpu_queue"]
_SPLIT_OVER_NS = 10_000_000_000
"""Shortest window to split: ten samples of one second are too few."""
Event = tuple[str | None, str | None]


def looks_in(table: pa.Table) -> NDArray[np.int64]:
    """The times of the samples, in order; a sample that found no session is a row too."""
    found: NDArray[np.int64] = np.sort(pc.unique(table["tick_ns"]).to_numpy())
    return found


class WaitProfile:
    """The sampled sessions of one trial or segment."""

    def __init__(
        self,
        table: pa.Table,
        host: CounterSeries | None = None,
        *,
        since_ns: int | None = None,
        gaps: Sequence[tuple[int, int]] = (),
    ) -> None:
        """`since_ns`: the last sample before these; `gaps`: times without an answer."""
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
        self._is_worker: NDArray[np.bool_] = pc.equal(
            busy["backend_type"].cast(pa.string()), WORKER
        ).to_numpy()
        self._busy_for_ns = self._times_ns[np.searchsorted(self.ticks_ns, self.busy_ns)]
        on_cpu = self.classes == _CPU
        per_tick = np.bincount(
            np.searchsorted(self.ticks_ns, self.busy_ns[on_cpu]), minlength=len(self.ticks_ns)
        )
        self._looked_ns = np.r_[0.0, np.cumsum(self._times_ns)]
        self._on_cpu_ns = np.r_[0.0, np.cumsum(self._times_ns * per_tick)]
        """Cumulated over samples: the time they represent, and that of sessions on CPU."""

    @property
    def splits_cpu(self) -> bool:
        """Whether running sessions are separated from queued ones."""
        return self._queue.is_known

    def average_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float] | None:
        """Busy sessions by wait class, averaged over a window; None without a sample."""
        (sessions,) = self.by_window(np.array([start_ns, end_ns]))
        if np.isnan(sessions[0]):
            return None
        return {
            wait_class.name: float(value)
            for wait_class, value in zip(WAIT_CLASSES, sessions, strict=True)
            if wait_class.name != "cpu_queue" or self.splits_cpu
        }

    def parallel_sessions(self, start_ns: int, end_ns: int) -> float:
        """Parallel workers among the busy sessions, on average; 0 without a sample."""
        (looked_ns,) = self.looked_ns(np.array([start_ns, end_ns]))
        inside = self._is_worker & (self.busy_ns >= start_ns) & (self.busy_ns < end_ns)
        return float(self._busy_for_ns[inside].sum() / looked_ns) if looked_ns else 0.0

    def by_window(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Averages classes over adjacent windows, windows × classes; NaN without a sample."""
        sessions = self._by(self.classes, len(WAIT_CLASSES), edges_ns)
        in_queue = self._queued(edges_ns, sessions[:, _CPU])
        sessions[:, _CPU] -= in_queue
        sessions[:, _CPU_QUEUE] += in_queue
        return sessions

    def by_event(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Averages single events over adjacent windows, windows × `events`; time on CPU is not
        divided."""
        return self._by(self.event_codes, len(self.events), edges_ns)

    def _by(
        self, codes: NDArray[np.int64], kinds: int, edges_ns: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        windows, looked_ns = len(edges_ns) - 1, self.looked_ns(edges_ns)
        within = np.searchsorted(edges_ns, self.busy_ns, side="right") - 1
        counts = (within >= 0) & (within < windows)
        found = np.bincount(
            within[counts] * kinds + codes[counts],
            weights=self._busy_for_ns[counts],
            minlength=windows * kinds,
        ).reshape(windows, kinds)
        sessions: NDArray[np.float64] = found / np.where(looked_ns > 0, looked_ns, np.nan)[:, None]
        return sessions

    def looked_ns(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The time that the samples in each window represent."""
        found: NDArray[np.float64] = np.diff(
            self._looked_ns[np.searchsorted(self.ticks_ns, edges_ns)]
        )
        return found

    def _queued(
        self, edges_ns: NDArray[np.int64], sessions: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """How many of each window's `sessions` on CPU were queued: their share over at least 10 s,
        but never more than the kernel counted in the window itself, whose load may be another."""
        starts, ends = edges_ns[:-1].astype(np.int64), edges_ns[1:].astype(np.int64)
        if not self._queue.is_known or not len(self.ticks_ns):
            return np.zeros(len(starts))
        counted = self._queue.counted(starts, ends, self._gaps)
        missing = np.maximum(_SPLIT_OVER_NS - (ends - starts), 0) // 2
        starts = np.maximum(starts - missing, min(starts[0], self.ticks_ns[0]))
        ends = np.minimum(ends + missing, max(ends[-1], self.ticks_ns[-1] + 1))
        first, last = (np.searchsorted(self.ticks_ns, at) for at in (starts, ends))
        looked_ns = self._looked_ns[last] - self._looked_ns[first]
        on_cpu_ns = self._on_cpu_ns[last] - self._on_cpu_ns[first]
        on_cpu = on_cpu_ns / np.where(looked_ns > 0, looked_ns, np.inf)
        waiting = self._queue.waiting(starts, ends, on_cpu, self._gaps)
        share = waiting / np.where(on_cpu > 0.0, on_cpu, 1.0)
        return np.where(sessions > 0.0, np.fmin(sessions * share, counted), 0.0)

    def event_sessions(self, start_ns: int, end_ns: int) -> Mapping[str, float]:
        """Averages sessions by event, such as `LWLock:WALWrite`; without one `CPU` or `CPU
        queue`."""
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
        on_cpu = np.array([found.get("CPU", 0.0)])
        (queued,) = self._queued(np.array([start_ns, end_ns]), on_cpu)
        if queued > 0.0:
            found[_QUEUED] = float(queued)
            found["CPU"] -= found[_QUEUED]
        return found


_QUEUED = Term("CPU queue")


def _encoded(column: pa.ChunkedArray) -> tuple[list[str | None], NDArray[np.int64]]:
    """The distinct texts, None included, and a code for each row."""
    words = column.unify_dictionaries().combine_chunks()
    if isinstance(words, pa.ChunkedArray):
        words = words.chunk(0)
    known = words.dictionary.to_pylist()
    codes = pc.fill_null(words.indices, len(known)).to_numpy(zero_copy_only=False)
    return [*known, None], codes.astype(np.int64)


UNKNOWN = frozenset({"CPU", "CPU queue", "Client:ClientRead"})
"""Events of our own samples that the extension has no comparable figure for."""


class SampledWaits:
    """The sums of pg_wait_sampling's profile over trials or segments."""

    def __init__(self) -> None:
        self._waited_ms: dict[str, float] = defaultdict(float)
        self._seconds = 0.0

    def add(self, counters: CounterSeries) -> None:
        """Add one trial or segment."""
        for key in counters.keys():  # noqa: SIM118 (not a mapping)
            source, wait, name = key
            if source != WAITS.source or name not in (WAITS.ranked_by, "seconds"):
                continue
            values = counters.points(key)[1]
            grown = float(values[-1] - values[0])
            if wait == READ:
                self._seconds += grown
            else:
                self._waited_ms[wait.rpartition("/")[0]] += grown

    def sessions(self) -> Mapping[str, float]:
        """Event → average waiting sessions, the largest first; empty where nothing was read."""
        if not self._seconds:
            return {}
        ranked = sorted(self._waited_ms.items(), key=lambda item: -item[1])
        return {event: waited / 1e3 / self._seconds for event, waited in ranked}
