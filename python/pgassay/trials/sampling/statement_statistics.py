"""Statement and wait statistics of extensions, before and after a load.

Enters: a way to sessions of the server, before and after a load. Leaves: counter
columns: the raw values at both ends for what took most, the rest together. Never: resets
anything, reads a statement's text, or works while the load is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import ConnectionRefused, TargetError
from pgassay.notes import Note
from pgassay.server.protocol import Connection
from pgassay.trials.model.columns import COUNTERS
from pgassay.trials.model.record import Columns
from pgassay.trials.sampling.queries import (
    READ,
    STATEMENTS,
    WAITS,
    Counted,
    Extension,
    Query,
    queries_for,
)

OTHERS = "(others)"
MOST_ROWS = 100
_Values = dict[str, dict[str, float]]
"""Object → name → value."""
SINCE = "since_us"
"""Not a count: when the server began to count this one (17 and later)."""
_FOR_EVER = ("42", "0A")
"""Classes of SQLSTATEs: what is missing, not allowed or not built in stays so; others may pass."""


@dataclass(frozen=True)
class Resets:
    """Whether the counts of two readings belong together."""

    reset_us: int
    evictions: int
    by_process: bool | None = True
    """Of waits: whether those of clients can be separated; None where that is not set."""


@dataclass(frozen=True)
class _Reading:
    at_ns: int
    values: _Values
    before: Resets | None = None
    """Read before the values; None where the server does not report it."""
    after: Resets | None = None


class StatementWatch:
    """The statement and wait statistics of a server's extensions, before and after a load."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        version_num: int,
        extensions: Mapping[str, Extension],
    ) -> None:
        self._readings = [
            _Readings(counted, connect, version_num, extensions) for counted in (STATEMENTS, WAITS)
        ]

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on what could not be read."""
        return tuple(note for readings in self._readings for note in readings.notes)

    def counters(self) -> Columns:
        """Reads each extension once more; returns counter columns of the time since the reading
        before."""
        return joined([readings.counters() for readings in self._readings])

    def statements(self) -> Columns:
        """Reads pg_stat_statements alone once more; returns the same, of what grew."""
        return grown_only(self._readings[0].counters())


class _Readings:
    """Two readings around a load, or one after the other; the first is taken here."""

    def __init__(
        self,
        counted: Counted,
        connect: Callable[[], Connection],
        version_num: int,
        extensions: Mapping[str, Extension],
    ) -> None:
        self._counted, self._connect = counted, connect
        self._notes: dict[Note, None] = {}
        queries = queries_for(version_num)
        self._sql = _ready(queries.get(counted.source), extensions)
        self._resets_sql = _ready(queries.get(counted.resets), extensions)
        self._last = self._read()

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def counters(self) -> Columns:
        """Reads once more, and returns the growth since the reading before."""
        began, ended = self._last, self._read()
        # A reading that failed leaves its time to the next.
        self._last = ended or began
        if began is None or ended is None:
            return {name: [] for name in _COLUMNS}
        first, last = began.before, ended.after
        if first is not None and last is not None:
            was_reset = last.reset_us != first.reset_us or last.evictions < first.evictions
            if was_reset or _fell(began, ended, self._counted):
                self._note("trials/sampling/was-reset")
                return {name: [] for name in _COLUMNS}
            if last.evictions > first.evictions:
                self._note("trials/sampling/evicts")
        return changed(began.at_ns, began.values, ended.at_ns, ended.values, counted=self._counted)

    def _read(self) -> _Reading | None:
        if self._sql is None:
            return None
        try:
            with self._connect() as session:
                before = self._resets(session)
                # Not set: it is not preloaded, which the values themselves will say.
                if before is not None and before.by_process is False:
                    self._note("trials/sampling/not-by-process")
                    return None
                cursor = session.execute(self._sql.encode(), prepare=False)
                names = [column.name for column in cursor.description or ()][1:]
                found = {
                    row[0]: dict(zip(names, map(float, row[1:]), strict=True)) for row in cursor
                }
                return _Reading(_core.now_ns(), found, before, self._resets(session))
        except (psycopg.Error, TargetError, ConnectionRefused) as error:
            # The server may be back by the next time, or have an answer within its time limit;
            # what is installed but not preloaded, or not permitted to this role, stays so.
            said = str(error).splitlines()[0]
            self._note("trials/sampling/unreadable", said=said)
            if isinstance(error, psycopg.Error) and (error.sqlstate or "")[:2] in _FOR_EVER:
                self._sql = None
            return None

    def _resets(self, session: Connection) -> Resets | None:
        """Read before and after the values, so that a reset in between is noticed."""
        if self._resets_sql is None:
            return None
        row = session.execute(self._resets_sql.encode(), prepare=False).fetchone()
        return Resets(int(row[0]), int(row[1]), *row[2:]) if row else None

    def _note(self, code: str, **values: str) -> None:
        self._notes[Note.of(code, extension=self._counted.extension, **values)] = None


def _ready(query: Query | None, extensions: Mapping[str, Extension]) -> str | None:
    return query.sql_with(extensions) if query is not None else None


def _fell(began: _Reading, ended: _Reading, counted: Counted) -> bool:
    """Waits are forgotten all at once or not at all; a statement may be forgotten by itself."""
    calls = counted.calls
    return counted is WAITS and any(
        ended.values.get(item, {}).get(calls, 0.0) < values[calls]
        for item, values in began.values.items()
    )


_COLUMNS: Sequence[str] = COUNTERS.names


def changed(
    began_ns: int,
    before: _Values,
    ended_ns: int,
    after: _Values,
    *,
    most: int = MOST_ROWS,
    counted: Counted = STATEMENTS,
) -> dict[str, list[Any]]:
    """Counter columns of the statements or waits that occurred between two readings.

    One that went backwards, or that the server counts since another time than before, was reset or
    evicted in between: it is left out. One that is new began at zero.
    """
    grown: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    calls, by = counted.calls, counted.ranked_by
    for item, with_since in after.items():
        values = _counts(with_since)
        start = _counts(before.get(item, dict.fromkeys(with_since, 0.0)))
        if item in before and before[item].get(SINCE) != with_since.get(SINCE):
            continue
        if values[calls] > start[calls] and all(values[n] >= start[n] for n in values):
            grown[item] = (start, values)
    ranked = sorted(grown, key=lambda item: grown[item][0][by] - grown[item][1][by])
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}

    def add(item: str, start: Mapping[str, float], end: Mapping[str, float]) -> None:
        for at, values in ((began_ns, start), (ended_ns, end)):
            for name, value in values.items():
                row = (at, counted.source, item, name, value)
                for column, cell in zip(_COLUMNS, row, strict=True):
                    columns[column].append(cell)

    for item in ranked[:most]:
        add(item, *grown[item])
    for item, total in _together(ranked[most:], grown).items():
        add(item, dict.fromkeys(total, 0.0), total)
    if counted is WAITS:
        add(READ, {"seconds": 0.0}, {"seconds": (ended_ns - began_ns) / 1e9})
    return columns


def joined(parts: Sequence[Columns]) -> Columns:
    """Counter columns one after the other."""
    return {name: [cell for columns in parts for cell in columns[name]] for name in _COLUMNS}


def grown_only(columns: Columns) -> Columns:
    """Pairs of readings without those that are equal; most columns of most statements are."""
    rows = list(zip(*(columns[name] for name in _COLUMNS), strict=True))
    ends: dict[tuple[str, str], set[float]] = {}
    for _, _, item, name, value in rows:
        ends.setdefault((item, name), set()).add(value)
    kept = [row for row in rows if len(ends[row[2], row[3]]) > 1]
    return {name: [row[at] for row in kept] for at, name in enumerate(_COLUMNS)}


def _counts(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name != SINCE}


def _together(
    lesser: Iterable[str], grown: Mapping[str, tuple[dict[str, float], dict[str, float]]]
) -> dict[str, dict[str, float]]:
    """The growth of the lesser ones; of waits by event."""
    totals: dict[str, dict[str, float]] = {}
    for item in lesser:
        event, slash, _ = item.rpartition("/")
        start, end = grown[item]
        total = totals.setdefault(f"{event}{slash}{OTHERS}", dict.fromkeys(end, 0.0))
        for name in end:
            total[name] += end[name] - start[name]
    return totals
