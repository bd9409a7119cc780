"""A log as the server writes it to its standard error.

Enters: bytes, and the pattern of log_line_prefix. Leaves: entries.
Never: takes a line for an entry's by its words alone: it must begin with the prefix, or belong to
the entry before it by its tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgassay.trials.server_log.clock import LogClock, epoch_ns
from pgassay.trials.server_log.entry import Entry, decoded, severity_of, without_sqlstate
from pgassay.trials.server_log.lines import LineBuffer

_OF_SESSION = {"CONTEXT", "КОНТЕКСТ", "STATEMENT", "ОПЕРАТОР", "QUERY", "ЗАПРОС"}
"""What a checkpointer never writes, but a RAISE LOG in its words does."""
_MOST_LINES = 1000
_UNKNOWN = {"", "[unknown]"}


class StderrForm:
    """Reads lines under one prefix."""

    def __init__(self, pattern: re.Pattern[str], clock: LogClock) -> None:
        self.unread = 0
        self._pattern, self._clock = pattern, clock
        self._lines = LineBuffer()
        self._first: re.Match[str] | None = None
        self._message: list[str] = []
        self._in_message = False
        self._in_session = False

    def feed(self, data: bytes) -> Iterator[Entry]:
        for line in self._lines.feed(data):
            yield from self._line(line)
        self.unread += self._lines.too_long
        self._lines.too_long = 0

    def finish(self) -> Iterator[Entry]:
        cut = self._lines.finish()
        if cut:
            # Not yet whole, so not to be believed: half a number is another number.
            self.unread += 1
        yield from self._complete()

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
