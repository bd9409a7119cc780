"""A log in CSV, as log_destination = csvlog has the server write it.

Enters: bytes. Leaves: entries. Never: lets a torn record swallow the whole ones after it: a line
that begins as a record does is tried as one.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence

from pgassay.trials.server_log.clock import LogClock
from pgassay.trials.server_log.entry import LONGEST_LINE, Entry, Form, decoded, is_pid, severity_of

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
