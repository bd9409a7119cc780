"""What happened on the server, by its log.

Enters: entries. Leaves: `LogEvent` values, those that come in masses summed by the second.
Never: grows with the load: a server that logs every statement gives as many rows as seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pgassay.server.protocol import CONTROL_NAME, SAMPLER_NAME
from pgassay.trials.server_log.entry import Entry
from pgassay.trials.server_log.messages import (
    HostileFigure,
    Recognised,
    first_words,
    frequent_kinds,
    recognise,
)

_FAILURES = ("ERROR", "FATAL", "PANIC")
_OWN_SESSIONS = frozenset({CONTROL_NAME, SAMPLER_NAME})
_SECOND = 10**9
_LATEST_NS = 2**62
"""In the year 2116: a text of a session may look like any time."""
MOST_EVENTS = 200_000


@dataclass(frozen=True)
class LogEvent:
    """One event, or all of one kind in one second."""

    time_ns: int
    """By the clock of this machine; the first of them where `count` is more than one."""
    kind: str
    object: str = ""
    severity: str = "LOG"
    sqlstate: str | None = None
    """Of an error, where the log's form or prefix (%e) has it."""
    database: str | None = None
    backend_type: str | None = None
    pid: int | None = None
    """None where several are summed."""
    count: int = 1
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures of the message; summed, they are totals, with the largest as NAME_max."""


_Key = tuple[int, str, str, str, str | None, str | None, str | None]


class EventTally:
    """Collects the events of a log; `ours_ns` puts a time of the server's clock on our axis."""

    def __init__(self, *, ours_ns: Callable[[int], int] = lambda at: at, since_ns: int = 0) -> None:
        self._ours_ns, self._since_ns = ours_ns, since_ns
        self._single: list[LogEvent] = []
        self._summed: dict[_Key, LogEvent] = {}
        self.entries = 0
        self.without_time = 0
        self.unread = 0
        """Entries with figures that no server writes."""
        self.left_out = 0
        """Events beyond the most that are kept."""

    def add(self, entry: Entry) -> None:
        """Counts one entry, and keeps its event if it is one."""
        self.entries += 1
        if entry.application in _OWN_SESSIONS:
            return
        failed = entry.severity in _FAILURES
        try:
            found = _failure(entry) if failed else recognise(entry)
        except HostileFigure:
            self.unread += 1
            return
        if found is None:
            return
        if entry.time_ns is None or entry.time_ns > _LATEST_NS:
            self.without_time += 1
            return
        at = self._ours_ns(entry.time_ns)
        if at < self._since_ns:
            return
        if len(self._single) + len(self._summed) >= MOST_EVENTS:
            self.left_out += 1
            return
        event = LogEvent(
            time_ns=at,
            kind=found.kind,
            object=found.object,
            severity=entry.severity,
            sqlstate=entry.sqlstate if failed else None,
            database=entry.database,
            backend_type=entry.backend_type,
            pid=entry.pid,
            figures=found.figures,
        )
        if failed or found.kind in frequent_kinds():
            self._sum(event)
        else:
            self._single.append(event)

    def events(self) -> tuple[LogEvent, ...]:
        """Returns all events in the order of their times."""
        return tuple(sorted((*self._single, *self._summed.values()), key=lambda e: e.time_ns))

    def _sum(self, event: LogEvent) -> None:
        key = (
            event.time_ns // _SECOND,
            event.kind,
            event.object,
            event.severity,
            event.sqlstate,
            event.database,
            event.backend_type,
        )
        before = self._summed.get(key)
        self._summed[key] = event if before is None else _both(before, event)


def _failure(entry: Entry) -> Recognised:
    """An error, without its words, which may be data of the user's; those of a PANIC, which no
    session can raise, say why the server went down."""
    if entry.severity != "PANIC":
        return Recognised("error")
    return Recognised("error", first_words(entry.message))


def _both(before: LogEvent, event: LogEvent) -> LogEvent:
    figures: dict[str, float] = dict(before.figures)
    for name, value in event.figures.items():
        figures[f"{name}_max"] = max(
            before.figures.get(f"{name}_max", before.figures.get(name, value)), value
        )
        figures[name] = before.figures.get(name, 0.0) + value
    first_ns, count = min(before.time_ns, event.time_ns), before.count + event.count
    return replace(event, time_ns=first_ns, pid=None, count=count, figures=figures)
