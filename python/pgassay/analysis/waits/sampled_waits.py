"""Average waiting sessions by event, from the profile of the extension pg_wait_sampling.

Enters: counters of trials or segments, each wait read at the beginning and the end. Leaves: average
waiting sessions by event. Never: reports CPU or client waits, because the extension does not
distinguish idle sessions. It samples a hundred times a second by default.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from pgassay.analysis.reading.counters import CounterSeries
from pgassay.trials.sampling.counted import READ, WAITS

UNKNOWN = frozenset({"CPU", "CPU queue", "Client:ClientRead"})
"""Events of our own samples that the extension has no comparable figure for."""


class SampledWaits:
    """Sums over trials or segments."""

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
