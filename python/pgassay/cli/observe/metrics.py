"""`observe --metrics`: the figures of the moment for Prometheus, over HTTP.

Enters: an address; what a listener of an observation is given. Leaves: text in the format of
OpenMetrics or of Prometheus, as the reader asks; the same calls for the listener behind it.
Never: serves a statement, or the name of a user, database or table; listens beyond this machine
unless the address says so; asks the server anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import start_http_server
from prometheus_client.core import CollectorRegistry, CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from pgassay.analysis.reading.metrics import class_of
from pgassay.refusals.refusal import Refusal, SetupRefused
from pgassay.report.formats.openmetrics import family_of
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.workflows.observation import ObservationListener, Request

_LOOPBACK = "127.0.0.1"
_ADDRESS = re.compile(
    r"(?:(?P<plain>[^\s:\[\]]+):|\[(?P<ipv6>[0-9A-Fa-f:.]+)\]:)?(?P<port>\d{1,5})"
)
_BLOCKED = "lock"
_PREFIX = "pgassay_observe"
_COSTS = {
    "cpu_s": ("cpu_seconds", "Processor time of the sampler."),
    "transactions": ("transactions", "Transactions of the sampler on the server."),
    "wait_ticks": ("looks", "Looks at the sessions' waits."),
    "late_ticks": ("late_looks", "Looks that came late or not at all."),
    "rested_ticks": ("rested_looks", "Looks that were left out to spare a slow server."),
}
"""Name in a sampler's cost → name and help of a counter."""


@contextmanager
def serving(address: str | None, shown: ObservationListener) -> Iterator[ObservationListener]:
    """Serves the figures at `[ADDRESS:]PORT` and yields the listener that gathers them, or just
    `shown` without an address."""
    if address is None:
        yield shown
        return
    host, port = address_of(address)
    metrics = ServedFigures(shown)
    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        why = error.strerror or str(error)
        raise SetupRefused("metrics-not-served", f"--metrics {address}", why=why) from None
    try:
        yield metrics
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def address_of(text: str) -> tuple[str, int]:
    """Returns the address and port that `[ADDRESS:]PORT` names; loopback without an address."""
    match = _ADDRESS.fullmatch(text)
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise Refusal("metrics-address-form", "--metrics", text=text)
    return match["plain"] or match["ipv6"] or _LOOPBACK, int(match["port"])


class ServedFigures(Collector):
    """The figures that a reader is given; another thread reads them, so each is replaced whole."""

    def __init__(self, shown: ObservationListener) -> None:
        self._shown = shown
        self._live: LiveFigures | None = None
        self._elapsed_s = self._silent_s = 0.0
        self._cost: Mapping[str, float] = {}
        self._segments, self._disk_bytes, self._warnings = 0, 0, 0

    def began(self, server: str, request: Request) -> None:
        """Sampling has begun."""
        self._shown.began(server, request)

    def sampled(self, elapsed_s: float, live: LiveFigures | None) -> None:
        """Keep the figures of the moment; time in which the server does not answer is added up."""
        if live is not None and not live.answers:
            self._silent_s += elapsed_s - self._elapsed_s
        self._elapsed_s, self._live = elapsed_s, live
        self._shown.sampled(elapsed_s, live)

    def took(self, cost: Mapping[str, float]) -> None:
        """Keep what sampling has cost."""
        self._cost = cost
        self._shown.took(cost)

    def stored(self, segments: int, disk_bytes: int) -> None:
        """Keep what is on disk."""
        self._segments, self._disk_bytes = segments, disk_bytes
        self._shown.stored(segments, disk_bytes)

    def warned(self, text: str) -> None:
        """Count a warning."""
        self._warnings += 1
        self._shown.warned(text)

    def collect(self) -> Iterator[Metric]:
        """Return the metric families; what was not measured is left out."""
        return (one for one in self._families() if one.samples)

    def _families(self) -> Iterator[Metric]:
        yield _counter("seconds", "Time since the recording began.", self._elapsed_s)
        yield _counter("gap_seconds", "Time in which the server did not answer.", self._silent_s)
        yield _counter("warnings", "Warnings since the recording began.", self._warnings)
        yield _gauge("segments", "Segments on disk.", self._segments)
        yield _gauge("disk_bytes", "Segments and thinned slices on disk.", self._disk_bytes)
        for name, value in self._cost.items():
            if name in _COSTS:
                short, text = _COSTS[name]
                yield _counter(f"sampler_{short}", text, value)
        live = self._live
        if live is None:
            return
        yield _gauge("answers", "1 where the server answers, else 0.", live.answers)
        if not live.answers:
            return
        yield _gauge("commits_per_second", "Commits of all databases.", live.tps)
        yield _gauge("rollbacks_per_second", "Rollbacks of all databases.", live.rollbacks)
        yield _gauge("checkpoint", "1 while a checkpoint is under way.", live.checkpoint)
        classes = sessions_by_class(live.sessions)
        yield family_of(
            f"{_PREFIX}_active_sessions",
            "Average active sessions by class of wait.",
            [({"class": name}, busy) for name, busy in sorted(classes.items())],
        )
        yield _gauge(
            "blocked_sessions", "Average sessions that wait for a lock.", classes[_BLOCKED]
        )


def sessions_by_class(sessions: Mapping[str, float]) -> Mapping[str, float]:
    """Sums average active sessions by the class of their wait event."""
    found: dict[str, float] = {_BLOCKED: 0.0}
    for event, busy in sessions.items():
        kind, _, name = event.partition(":")
        of_class = class_of(None if event == "CPU" else kind, name)
        found[of_class] = found.get(of_class, 0.0) + busy
    return found


def _gauge(name: str, text: str, value: float | None) -> Metric:
    return family_of(f"{_PREFIX}_{name}", text, [({}, value)])


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"{_PREFIX}_{name}", text, value=value)
