"""What extensions counted in a trial, where they are installed: statements, and waits.

Enters: a way to sessions of the server, before and after a load. Leaves: counter
columns: the raw values at both ends for what took most, the rest together. Never: resets
anything, reads a statement's text, or works while the load is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import ConnectionRefused, TargetError
from pgassay.target.protocol import Connection
from pgassay.trials.queries import Extension, Query, queries_for
from pgassay.trials.record import Columns

OTHERS = "(others)"
READ = "(read)"
"""The object of one more row: for how many `seconds` the extension's counts were followed."""
MOST_ROWS = 100


@dataclass(frozen=True)
class Counted:
    """One query of an extension's sums, and which of its columns matter here."""

    source: str
    extension: str
    calls: str
    """Grows whenever anything does."""
    ranked_by: str


STATEMENTS = Counted("statements", "pg_stat_statements", "calls", "exec_time_ms")
WAITS = Counted("wait_profile", "pg_wait_sampling", "samples", "waited_ms")
"""Objects are `EVENT/QUERYID`."""

_Values = dict[str, dict[str, float]]
"""Object → name → value."""


class StatementWatch:
    """What every extension counts around a load."""

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
    def notes(self) -> tuple[str, ...]:
        """What could not be read, one line each."""
        return tuple(note for readings in self._readings for note in readings.notes)

    def counters(self) -> Columns:
        """One more reading of each, set against the one before it."""
        return reduce(joined, [readings.counters() for readings in self._readings])


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
        self.notes: tuple[str, ...] = ()
        query: Query | None = queries_for(version_num).get(counted.source)
        self._sql = query.sql_with(extensions) if query is not None else None
        self._began_ns, self._before = self._read()

    def counters(self) -> Columns:
        """One more reading, set against the one before it."""
        ended_ns, after = self._read()
        began_ns, before = self._began_ns, self._before
        self._began_ns, self._before = ended_ns, after
        if before is None or after is None:
            return {name: [] for name in _COLUMNS}
        return changed(began_ns, before, ended_ns, after, counted=self._counted)

    def _read(self) -> tuple[int, _Values | None]:
        if self._sql is None:
            return 0, None
        try:
            with self._connect() as session:
                cursor = session.execute(self._sql.encode(), prepare=False)
                names = [column.name for column in cursor.description or ()][1:]
                found = {
                    row[0]: dict(zip(names, map(float, row[1:]), strict=True)) for row in cursor
                }
        except ConnectionRefused as error:
            self.notes = (f"{self._counted.extension} could not be read: {error}",)
            return 0, None  # the server may be back by the next time
        except (psycopg.Error, TargetError) as error:
            # Installed but not preloaded, or not ours to read.
            said = str(error).splitlines()[0]
            self.notes = (f"{self._counted.extension} could not be read: {said}",)
            self._sql = None
            return 0, None
        return _core.now_ns(), found


_COLUMNS = ("time_ns", "source", "object", "name", "value")


def changed(
    began_ns: int,
    before: _Values,
    ended_ns: int,
    after: _Values,
    *,
    most: int = MOST_ROWS,
    counted: Counted = STATEMENTS,
) -> dict[str, list[Any]]:
    """Counter columns of the statements or waits that were met between two readings.

    One that went backwards was reset or forgotten on the way: it is left out. One that is new
    began at zero.
    """
    grown: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    calls, by = counted.calls, counted.ranked_by
    for thing, values in after.items():
        start = before.get(thing, dict.fromkeys(values, 0.0))
        if values[calls] > start[calls] and all(values[n] >= start[n] for n in values):
            grown[thing] = (start, values)
    ranked = sorted(grown, key=lambda thing: grown[thing][0][by] - grown[thing][1][by])
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}

    def add(thing: str, start: Mapping[str, float], end: Mapping[str, float]) -> None:
        _add(columns, counted.source, thing, began_ns, start, ended_ns, end)

    for thing in ranked[:most]:
        add(thing, *grown[thing])
    for thing, total in _together(ranked[most:], grown).items():
        add(thing, dict.fromkeys(total, 0.0), total)
    if counted is WAITS:
        add(READ, {"seconds": 0.0}, {"seconds": (ended_ns - began_ns) / 1e9})
    return columns


def _together(
    things: Iterable[str], grown: Mapping[str, tuple[dict[str, float], dict[str, float]]]
) -> dict[str, dict[str, float]]:
    """The growth of the lesser ones; of waits by event."""
    totals: dict[str, dict[str, float]] = {}
    for thing in things:
        event, slash, _ = thing.rpartition("/")
        start, end = grown[thing]
        total = totals.setdefault(f"{event}{slash}{OTHERS}", dict.fromkeys(end, 0.0))
        for name in end:
            total[name] += end[name] - start[name]
    return totals


def joined(first: Columns, second: Columns) -> Columns:
    """The rows of both."""
    return {name: [*first[name], *second[name]] for name in _COLUMNS}


def _add(
    columns: dict[str, list[Any]],
    source: str,
    thing: str,
    began_ns: int,
    start: Mapping[str, float],
    ended_ns: int,
    end: Mapping[str, float],
) -> None:
    for at, values in ((began_ns, start), (ended_ns, end)):
        for name, value in values.items():
            for column, cell in zip(_COLUMNS, (at, source, thing, name, value), strict=True):
                columns[column].append(cell)
