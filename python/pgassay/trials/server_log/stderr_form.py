"""A log as the server writes it to its standard error, under log_line_prefix.

Enters: the setting; bytes. Leaves: a pattern with the fields it needs as named groups; entries.
Never: takes a line for an entry's by its words alone: it must begin with the prefix, or belong to
the entry before it by its tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgassay.trials.server_log.clock import LogClock, epoch_ns
from pgassay.trials.server_log.entry import (
    Entry,
    Form,
    decoded,
    severity_of,
    without_sqlstate,
    words,
)

# Escapes → (name of the group where it is of use, what is written). Source: log_status_format in
# src/backend/utils/error/elog.c of PostgreSQL 13 to 18. Names of users, databases, applications
# and background workers are any text, cut at 63 (95) bytes; without a session they are empty. The
# bounds keep a hostile name from costing more than its own length.
_STAMP = r"\d{4,5}-\d\d-\d\d \d\d:\d\d:\d\d"
_FIELDS = {
    "a": ("application", r".{0,63}?"),
    "b": ("backend_type", r".{0,95}?"),
    "c": ("", r"[0-9a-f]+\.[0-9a-f]+"),
    "d": ("database", r".{0,63}?"),
    "e": ("sqlstate", r"[0-9A-Z]{5}"),
    "h": ("", r"\S{0,255}?"),
    "i": ("", r".{0,255}?"),
    "l": ("", r"\d+"),
    "L": ("", r"\S{0,255}?"),
    "m": ("stamp", _STAMP + r"\.\d{3} \S+"),
    "n": ("epoch", r"\d+\.\d{3}"),
    "p": ("pid", r"\d+"),
    "P": ("", r"\d*"),
    "Q": ("", r"-?\d+"),
    "r": ("", r"\S{0,255}?"),
    "s": ("", _STAMP + r" \S+"),
    "t": ("stamp", _STAMP + r" \S+"),
    "u": ("user", r".{0,63}?"),
    "v": ("", r"(?:-?\d+/\d+)?"),
    "x": ("", r"\d+"),
}
_ESCAPE = re.compile(r"%(-?\d*)(.)", re.DOTALL)
_TIMES = ("stamp", "epoch")


def line_pattern(setting: str) -> re.Pattern[str] | None:
    """What the first line of an entry looks like: prefix, `severity` or `further`, `message`.

    None where the prefix has none of %m, %t, %n: such a log cannot be put on a time axis.
    """
    pattern, known, of_session = "", set[str](), 0
    position = 0
    for match in _ESCAPE.finditer(setting):
        pattern += re.escape(setting[position : match.start()])
        position = match.end()
        if match[2] == "%":
            pattern += "%"
        elif match[2] == "q":
            # Processes without a session stop here.
            pattern += "(?:(?P<session>)" if of_session == 0 else "(?:"
            of_session += 1
        elif match[2] in _FIELDS:
            pattern += _field(match[2], padded=bool(match[1].strip("-")), known=known)
    rest = setting[position:]
    pattern += re.escape(rest.removesuffix("%") if rest.endswith("%") else rest)
    if not known.intersection(_TIMES):
        return None
    severities = "|".join(map(re.escape, words().severities))
    further = "|".join(map(re.escape, words().further))
    return re.compile(
        f"{pattern}{')?' * of_session}"
        rf"(?:(?P<severity>{severities}):  |(?P<further>{further}): )(?P<message>.*)",
        re.DOTALL | re.ASCII,
    )


def _field(letter: str, *, padded: bool, known: set[str]) -> str:
    name, written = _FIELDS[letter]
    if name and name not in known:
        known.add(name)
        written = f"(?P<{name}>{written})"
    # Padding comes on either side, and alone where a field that can be empty is.
    return f" *(?:{written}) *" if padded else f"(?:{written})"


_OF_SESSION = {"CONTEXT", "КОНТЕКСТ", "STATEMENT", "ОПЕРАТОР", "QUERY", "ЗАПРОС"}
"""What a checkpointer never writes, but a RAISE LOG in its words does."""
_MOST_LINES = 1000
_UNKNOWN = {"", "[unknown]"}


class StderrForm(Form):
    """Reads lines under one prefix."""

    def __init__(self, pattern: re.Pattern[str], clock: LogClock) -> None:
        super().__init__()
        self._pattern, self._clock = pattern, clock
        self._first: re.Match[str] | None = None
        self._message: list[str] = []
        self._in_message = False
        self._in_session = False

    def _line(self, raw: bytes) -> Iterator[Entry]:
        if raw.startswith(b"\t"):
            if self._first is None:
                self.unread += 1
            elif self._in_message and len(self._message) < _MOST_LINES:
                self._message.append(decoded(raw[1:]))
            return
        if not raw:
            return
        match = self._pattern.match(decoded(raw))
        if match is None:
            # Another program's words: archive_command, a library, a torn line.
            self.unread += 1
            self._in_message = False
            return
        if match["further"]:
            self._in_message = False
            self._in_session |= match["further"] in _OF_SESSION
            return
        yield from self._complete()
        self._first, self._message = match, [match["message"]]
        self._in_message, self._in_session = True, False

    def _complete(self) -> Iterator[Entry]:
        first, self._first = self._first, None
        if first is None:
            return
        found = first.groupdict()
        severity = severity_of(found["severity"])
        if severity is None:  # the pattern has no others
            return
        sqlstate, message = without_sqlstate("\n".join(self._message))
        names = {found.get(name) or "" for name in ("user", "database", "application")}
        yield Entry(
            time_ns=self._time(found),
            pid=int(found["pid"]) if found.get("pid") else None,
            severity=severity,
            sqlstate=found.get("sqlstate") or sqlstate,
            message=message,
            database=found.get("database") or None,
            backend_type=(found.get("backend_type") or "").strip() or None,
            of_session=self._in_session or bool(names - _UNKNOWN),
        )

    def _time(self, found: dict[str, str | None]) -> int | None:
        epoch, stamp = found.get("epoch"), found.get("stamp")
        if epoch:
            return epoch_ns(epoch)
        return self._clock.stamp_ns(stamp) if stamp else None
