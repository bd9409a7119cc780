"""Logs that real servers wrote, shortened, and how those servers wrote them.

Enters: the name of a log. Leaves: its bytes and a reader of its form. Never: a made-up line.

`russian-15`: Debian's PostgreSQL 15, LANGUAGE=ru. `english-16`, `english-18`: the embedded ones,
under a prefix that looks like a log line itself. Each holds forced and WAL checkpoints, an
autovacuum and an autoanalyze, temporary files, a lock wait that ends as a deadlock, errors, a
warning of two lines, a session that logs "checkpoint starting: time", a crash and a recovery.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.trials.server_log.entry import Entry, Form, LogClock
from pgassay.trials.server_log.forms import CsvForm, JsonForm, StderrForm
from pgassay.trials.server_log.line_prefix import LinePattern, line_pattern

FOLDER = Path(__file__).parents[2] / "data" / "server_logs"
LOGS = sorted(path.name for path in FOLDER.iterdir())
CLOCK = LogClock({"MSK": 3 * 3600, "NST": -12600})
_HOSTILE = "%t %%x %-12b|%10p|%q%a LOG: %u@%d %e %% %r "
PREFIXES = {
    "russian-15": "%m [%p] %q%u@%d/%a ",
    "english-16": _HOSTILE,
    "english-18": _HOSTILE,
}


def contents(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def pattern_for(prefix: str) -> LinePattern:
    pattern = line_pattern(prefix)
    assert pattern is not None
    return pattern


def form_for(name: str) -> Form:
    base, _, ending = name.rpartition(".")
    if ending == "json":
        return JsonForm(CLOCK)
    if ending == "csv":
        return CsvForm(CLOCK)
    return StderrForm(pattern_for(PREFIXES[base]), CLOCK)


def entries_in(form: Form, *pieces: bytes) -> list[Entry]:
    found = [entry for piece in pieces for entry in form.feed(piece)]
    return [*found, *form.finish()]
