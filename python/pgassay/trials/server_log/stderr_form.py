"""A log as the server writes it to its standard error, under log_line_prefix.

Enters: a pattern of the setting; bytes. Leaves: entries.
Never: takes a line for an entry's by its words alone: it must begin with the prefix, or belong to
the entry before it by its tab.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.trials.server_log.clock import LogClock, epoch_ns
from pgassay.trials.server_log.entry import (
    Entry,
    Form,
    decoded,
    severity_of,
    without_sqlstate,
)
from pgassay.trials.server_log.line_prefix import Fields, LinePattern

_OF_SESSION = {"CONTEXT", "КОНТЕКСТ", "STATEMENT", "ОПЕРАТОР", "QUERY", "ЗАПРОС"}
"""What a checkpointer never writes, but a RAISE LOG in its words does."""
_MOST_LINES = 1000
_UNKNOWN = {"", "[unknown]"}


class StderrForm(Form):
    """Reads a log in the form stderr, whose entries begin with one log_line_prefix."""

    def __init__(self, pattern: LinePattern, clock: LogClock) -> None:
        super().__init__()
        self._pattern, self._clock = pattern, clock
        self._first: Fields | None = None
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
        self._first, self._message = match, [match["message"] or ""]
        self._in_message, self._in_session = True, False

    def _complete(self) -> Iterator[Entry]:
        found, self._first = self._first, None
        if found is None:
            return
        severity = severity_of(found["severity"] or "")
        if severity is None:  # the pattern has no others
            return
        sqlstate, message = without_sqlstate("\n".join(self._message))
        names = {found.get(name) or "" for name in ("user", "database", "application", "names")}
        yield Entry(
            time_ns=self._time(found),
            pid=int(found.get("pid") or 0) or None,
            severity=severity,
            sqlstate=found.get("sqlstate") or sqlstate,
            message=message,
            database=found.get("database") or None,
            backend_type=found.get("backend_type") or None,
            of_session=self._in_session or bool(names - _UNKNOWN),
            application=(found.get("application") or "").strip() or None,
        )

    def _time(self, found: Fields) -> int | None:
        epoch, stamp = found.get("epoch"), found.get("stamp")
        if epoch:
            return epoch_ns(epoch)
        return self._clock.stamp_ns(stamp) if stamp else None
