"""The forms of a server's log: csvlog, jsonlog (15 and later), stderr under log_line_prefix.

Enters: bytes; for stderr a pattern of the prefix. Leaves: entries. Never: lets a torn record of CSV
swallow the whole ones after it (a line that begins as a record does is tried as one), takes an
object without its time and severity for one, or a line for an entry's by its words alone: it must
begin with the prefix, or belong to the entry before it by its tab.
"""

from __future__ import annotations

import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from pgassay.trials.server_log.entry import (
    LONGEST_LINE,
    Entry,
    Form,
    LogClock,
    decoded,
    epoch_ns,
    is_pid,
    severity_of,
    without_sqlstate,
)
from pgassay.trials.server_log.line_prefix import Fields, LinePattern

# PostgreSQL 13 has 24 columns, 14 and later 26; the manual: "Using CSV-Format Log Output".
_TIME, _USER, _DATABASE, _PID, _SEVERITY, _SQLSTATE, _MESSAGE = 0, 1, 2, 3, 11, 12, 13
_APPLICATION, _BACKEND = 22, 23
_WIDTHS = (24, 26)
_QUOTED = r'(?:"(?:[^"]|"")*")?'
_BEGINS = re.compile(
    rf"\d{{4,5}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} [^,]+,{_QUOTED},{_QUOTED},\d+,", re.ASCII
)
_MOST_LINES = 1000
# Statements may be long: the module's own limit is 131,072. What is held is bounded here.
csv.field_size_limit(max(csv.field_size_limit(), _MOST_LINES * LONGEST_LINE))


class CsvForm(Form):
    """Reads a log in the form csvlog, whose records may span lines."""

    def __init__(self, clock: LogClock) -> None:
        super().__init__()
        self._clock = clock
        self._record: list[str] = []
        self._quoting = False
        """Whether a quote is open at the end of what there is of the record."""

    def _line(self, line: bytes) -> Iterator[Entry]:
        return self._take([decoded(line)])

    def _complete(self) -> Iterator[Entry]:
        while self._record:
            yield from self._take(self._after_torn())

    def _take(self, lines: Sequence[str]) -> Iterator[Entry]:
        waiting = deque(lines)
        while waiting:
            line = waiting.popleft()
            if not self._record and not _BEGINS.match(line):
                self.unread += bool(line)
                continue
            self._record.append(line)
            self._quoting ^= line.count('"') % 2 == 1
            if self._quoting:
                if len(self._record) > _MOST_LINES:
                    self.unread += len(self._record)
                    self._record, self._quoting = [], False
                continue
            entry = self._parsed(self._record)
            if entry is None:
                waiting.extendleft(reversed(self._after_torn()))
            else:
                self._record = []
                yield entry

    def _after_torn(self) -> list[str]:
        """Gives up the first record of what is held: the lines from the next beginning on."""
        torn, self._record, self._quoting = self._record, [], False
        next_ = next((at for at in range(1, len(torn)) if _BEGINS.match(torn[at])), len(torn))
        self.unread += next_
        return torn[next_:]

    def _parsed(self, record: list[str]) -> Entry | None:
        text = "\n".join(record)
        try:
            (row,) = csv.reader([text], strict=True)
        except (csv.Error, ValueError):
            return None
        if len(row) not in _WIDTHS or not is_pid(row[_PID]):
            return None
        severity = severity_of(row[_SEVERITY])
        if severity is None:
            return None
        return Entry(
            time_ns=self._clock.stamp_ns(row[_TIME]),
            pid=int(row[_PID]),
            severity=severity,
            sqlstate=row[_SQLSTATE] or None,
            message=row[_MESSAGE],
            database=row[_DATABASE] or None,
            backend_type=row[_BACKEND] or None,
            of_session=bool(row[_USER] or row[_DATABASE]),
            application=row[_APPLICATION] or None,
        )


class JsonForm(Form):
    """Reads a log in the form jsonlog, one JSON object per line."""

    def __init__(self, clock: LogClock) -> None:
        super().__init__()
        self._clock = clock

    def _line(self, line: bytes) -> Iterator[Entry]:
        entry = self._entry(line)
        if entry is not None:
            yield entry
        else:
            self.unread += bool(line)

    def _entry(self, line: bytes) -> Entry | None:
        try:
            found = json.loads(decoded(line))
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        stamp, severity = _text(found, "timestamp"), severity_of(_text(found, "error_severity"))
        pid = found.get("pid")
        if not stamp or severity is None or (type(pid) is int and not is_pid(str(pid))):
            return None
        return Entry(
            time_ns=self._clock.stamp_ns(stamp),
            pid=pid if type(pid) is int else None,
            severity=severity,
            sqlstate=_text(found, "state_code") or None,
            message=_text(found, "message"),
            database=_text(found, "dbname") or None,
            backend_type=_text(found, "backend_type") or None,
            of_session=bool(_text(found, "user") or _text(found, "dbname")),
            application=_text(found, "application_name") or None,
        )


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


_OF_SESSION = {"CONTEXT", "КОНТЕКСТ", "STATEMENT", "ОПЕРАТОР", "QUERY", "ЗАПРОС"}
"""What a checkpointer never writes, but a RAISE LOG in its words does."""
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
