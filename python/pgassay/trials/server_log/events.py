"""What happened on the server, by its log, whose messages are recognised by their words.

Enters: entries. Leaves: for each that is known, its kind, its object and its figures; `LogEvent`
values, those that come in masses summed by the second. Never: keeps a text that a user can put data
into (the patterns are in messages.toml), or grows with the load: a server that logs every statement
gives as many rows as seconds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from pgassay.server.protocol import CONTROL_NAME, SAMPLER_NAME
from pgassay.trials.server_log.entry import Entry

_PLACE = re.compile(r"\{(\w*)(?::(\w))?\}")
_CLASSES = {"n": r"\d+", "d": r"\d+(?:[.,]\d+)?", "w": r"\w+", "q": r".+?", "c": r"[a-z -]*"}
_LSN = r"[0-9A-F]+/[0-9A-F]+"
_WORDS_KEPT = 200
_MOST_DIGITS = 18
"""Of a figure: more fit no 64 bits, and no server writes them."""


class HostileFigure(ValueError):
    """Raised for a figure in a log that no server writes."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The kind, object and figures of one entry of a log."""

    kind: str
    object: str = ""
    """The table, the lock's mode, a checkpoint's causes; for a crash or a PANIC, its message."""
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Message:
    kind: str
    by_server: bool
    keeps_words: bool
    figures: tuple[tuple[str, re.Pattern[str]], ...]


def recognise(entry: Entry) -> Recognised | None:
    """Returns what an entry of severity LOG is about; None where no trial needs it.

    Raises HostileFigure."""
    if entry.severity != "LOG":
        return None
    first = entry.message.split(None, 1)[0] if entry.message.strip() else ""
    by_word, anything = _heads()
    for head, message in (*by_word.get(first, ()), *anything):
        match = head.match(entry.message)
        if match is None:
            continue
        if message.by_server and entry.of_session:
            return None
        found = match.groupdict()
        object_ = found.pop("object", None) or ""
        if message.keeps_words:
            object_ = first_words(entry.message)
        numbers = {name: _number(text) for name, text in found.items() if text and name != "path"}
        for name, pattern in message.figures:
            figure = pattern.search(entry.message)
            if figure is not None and figure.lastindex:
                numbers[name] = _number(figure[figure.lastindex])
        return Recognised(message.kind, object_, numbers)
    return None


def first_words(message: str) -> str:
    """Returns the first line of a message, cut if it is long."""
    return next(iter(message.splitlines()), "")[:_WORDS_KEPT]


@cache
def frequent_kinds() -> frozenset[str]:
    """Returns the kinds of events that a busy server may write thousands of in a second."""
    return frozenset(message["kind"] for message in _table() if message.get("often"))


@cache
def server_kinds() -> frozenset[str]:
    """Returns the kinds of events that only the server's own processes write."""
    return frozenset(message["kind"] for message in _table() if message.get("by") == "server")


@cache
def _table() -> list[dict[str, Any]]:
    text = (files("pgassay.trials.server_log") / "messages.toml").read_text("utf-8")
    table: list[dict[str, Any]] = tomllib.loads(text)["message"]
    return table


_Heads = list[tuple[re.Pattern[str], _Message]]


@cache
def _heads() -> tuple[Mapping[str, _Heads], _Heads]:
    """First word of a message → patterns that begin with it; patterns that begin otherwise."""
    figures = {message["kind"]: message.get("figures", {}) for message in _table()}
    by_word: dict[str, _Heads] = {}
    anything: _Heads = []
    for message in _table():
        own = figures[message.get("figures_of", message["kind"])]
        made = _Message(
            kind=message["kind"],
            by_server=message.get("by") == "server",
            keeps_words=message.get("keep_words", False),
            figures=tuple((name, _figure(texts)) for name, texts in own.items()),
        )
        for head in message["heads"]:
            word = head.split(None, 1)[0].removesuffix("$")
            pattern = (re.compile(_pattern(head), re.ASCII), made)
            if "{" in word:
                anything.append(pattern)
            else:
                by_word.setdefault(word, []).append(pattern)
    return by_word, anything


def _figure(texts: list[str]) -> re.Pattern[str]:
    # Tried at the first digit of a number only: at each it would cost the square of their count.
    return re.compile("|".join(rf"(?<!\d){_pattern(text)}" for text in texts), re.ASCII)


def _pattern(text: str) -> str:
    """A text of messages.toml as a pattern; a captured figure is its last group."""
    pattern, position = "", 0
    for match in _PLACE.finditer(text):
        pattern += _literal(text[position : match.start()])
        position = match.end()
        name, kind = match[1], match[2]
        if kind:
            pattern += f"(?P<{name}>{_CLASSES[kind]})"
        elif name in _CLASSES:
            pattern += f"({_CLASSES[name]})"
        elif name == "lsn":
            pattern += f"({_LSN})"
        elif name == "_":
            pattern += r"\d+(?:\.\d+)?"
        else:
            pattern += r"[^\n]{1,300}?"
    rest = text[position:]
    return pattern + (_literal(rest[:-1]) + r"\Z" if rest.endswith("$") else _literal(rest))


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\ ", r"\s+")


def _number(text: str) -> float:
    """A figure; a WAL position is its bytes since the beginning."""
    if max(map(len, re.split("[/.,]", text))) > _MOST_DIGITS:
        raise HostileFigure(f"a figure of {len(text)} characters")
    if "/" in text:
        high, _, low = text.partition("/")
        return float((int(high, 16) << 32) | int(low, 16))
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return float("nan")


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
