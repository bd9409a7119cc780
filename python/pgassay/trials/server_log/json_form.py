"""A log in JSON, one object a line, as log_destination = jsonlog has it written (15 and later).

Enters: bytes. Leaves: entries. Never: takes an object without its time and severity for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pgassay.trials.server_log.clock import LogClock
from pgassay.trials.server_log.entry import Entry, Form, decoded, is_pid, severity_of


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
