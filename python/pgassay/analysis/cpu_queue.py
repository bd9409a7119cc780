"""Sessions that wait for nothing: on a processor, or in the queue for one.

Enters: what the kernel counted of the server's processes. Leaves: how much of a window's sessions
on CPU stood in the queue. Never: guesses where the kernel's counts are missing.

A sample without a wait event cannot tell the two apart. The kernel counts a process's time on a
processor exactly (schedstat), so what sessions on CPU exceed it by was spent in the queue, though
never more than the kernel counted as waiting. It is a lower bound: a session may also be on a
processor while it says that it waits, as when it copies a page out of the kernel's cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgassay.analysis.binned import Gaps
from pgassay.analysis.counters import CounterSeries

OF_THE_LOAD = ("client backend", "parallel worker")
_SOURCE = "processes"

Times = NDArray[np.int64]
Values = NDArray[np.float64]


class CpuQueue:
    """Time on processors and in their queue, of the sessions of a trial."""

    def __init__(self, host: CounterSeries | None) -> None:
        self._run = _grown(host, "run_ns")
        self._queue = _grown(host, "queue_ns")

    @property
    def is_known(self) -> bool:
        """Whether the kernel's counts were read at all."""
        return bool(self._run and self._queue)

    def waiting(self, starts_ns: Times, ends_ns: Times, on_cpu: Values, gaps: Gaps = ()) -> Values:
        """Of `on_cpu` sessions of each window, how many stood in the queue, on average over what
        was seen of it: the kernel's counts too are those of that time, without `gaps`."""
        if not self.is_known:
            return np.zeros(len(on_cpu))
        every = (*self._run, *self._queue)
        starts = np.maximum(starts_ns, min(int(times[0]) for times, _ in every))
        ends = np.maximum(np.minimum(ends_ns, max(int(times[-1]) for times, _ in every)), starts)
        unseen = [(np.clip(begin, starts, ends), np.clip(end, starts, ends)) for begin, end in gaps]
        lengths = np.maximum(ends - starts - sum(end - begin for begin, end in unseen), 1)
        run, queue = (
            sum(
                _between(one, starts, ends) - sum(_between(one, *gap) for gap in unseen)
                for one in series
            )
            / lengths
            for series in (self._run, self._queue)
        )
        waiting: Values = np.minimum(np.maximum(on_cpu - run, 0.0), queue)
        return np.nan_to_num(waiting)


def _grown(host: CounterSeries | None, name: str) -> list[tuple[Times, Values]]:
    """Each kind of session's counter, without the steps back of a server that was restarted."""
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
    # Nanoseconds of Unix time are beyond what a float holds to the last digit.
    zero = times[0]
    at_start, at_end = (np.interp(at - zero, times - zero, values) for at in (starts_ns, ends_ns))
    return np.asarray(at_end - at_start)
