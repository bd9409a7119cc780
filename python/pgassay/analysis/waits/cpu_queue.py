"""Splits sessions without a wait event into running and queued for a processor.

Enters: the kernel's counts of the server's processes. Leaves: how many of a window's sessions on
CPU were in the run queue. Never: guesses where the kernel's counts are missing.

A sample without a wait event cannot tell the two apart. The kernel counts each process's running
and queued time exactly (schedstat), so sampled sessions in excess of the running time were queued,
but never more than the kernel counted. This is a lower bound: a session can run while it reports a
wait, as when it copies a page from the kernel's cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.reading.binned import Gaps
from pgassay.analysis.reading.counters import CounterSeries

CLIENT, WORKER = "client backend", "parallel worker"
OF_THE_LOAD = (CLIENT, WORKER)
_SOURCE = "processes"

Times = NDArray[np.int64]
Values = NDArray[np.float64]


class CpuQueue:
    """Running and queued time of a trial's sessions."""

    def __init__(self, host: CounterSeries | None) -> None:
        self._run = _grown(host, "run_ns")
        self._queue = _grown(host, "queue_ns")

    @property
    def is_known(self) -> bool:
        """Returns whether the kernel's counts of the queue for processors were read."""
        return bool(self._run and self._queue)

    def waiting(self, starts_ns: Times, ends_ns: Times, on_cpu: Values, gaps: Gaps = ()) -> Values:
        """How many of each window's `on_cpu` sessions were queued, averaged over its time without
        `gaps`; 0 where the kernel's counts were not read."""
        run = self._average(self._run, starts_ns, ends_ns, gaps)
        queue = self._average(self._queue, starts_ns, ends_ns, gaps)
        return np.nan_to_num(np.minimum(np.maximum(on_cpu - run, 0.0), queue))

    def counted(self, starts_ns: Times, ends_ns: Times, gaps: Gaps = ()) -> Values:
        """How many sessions the kernel counted as queued, on average over each window without
        `gaps`; NaN where no count lies in it."""
        return self._average(self._queue, starts_ns, ends_ns, gaps)

    def _average(
        self, counts: Sequence[tuple[Times, Values]], starts_ns: Times, ends_ns: Times, gaps: Gaps
    ) -> Values:
        if not self.is_known:
            return np.full(len(starts_ns), np.nan)
        every = (*self._run, *self._queue)
        starts = np.maximum(starts_ns, min(int(times[0]) for times, _ in every))
        ends = np.maximum(np.minimum(ends_ns, max(int(times[-1]) for times, _ in every)), starts)
        unseen = [(np.clip(begin, starts, ends), np.clip(end, starts, ends)) for begin, end in gaps]
        lengths = ends - starts - sum(end - begin for begin, end in unseen)
        spent = sum(
            _between(one, starts, ends) - sum(_between(one, *gap) for gap in unseen)
            for one in counts
        )
        return np.asarray(spent / np.where(lengths > 0, lengths, np.nan))


def _grown(host: CounterSeries | None, name: str) -> list[tuple[Times, Values]]:
    """Each backend type's counter, made monotonic across server restarts."""
    if host is None:
        return []
    found = []
    for kind in OF_THE_LOAD:
        key = (_SOURCE, kind, name)
        if key in host.keys():  # noqa: SIM118 (not a mapping)
            times, values = host.points(key)
            steps = np.maximum(np.diff(values), 0.0)
            found.append((times, np.r_[0.0, np.cumsum(steps)]))
    return found


def _between(series: tuple[Times, Values], starts_ns: Times, ends_ns: Times) -> Values:
    times, values = series
    # Unix time in nanoseconds exceeds a float's precision: count from the first reading.
    zero = times[0]
    at_start, at_end = (np.interp(at - zero, times - zero, values) for at in (starts_ns, ends_ns))
    return np.asarray(at_end - at_start)
