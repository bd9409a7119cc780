"""What each statement took in a trial, from pg_stat_statements where it is installed.

Enters: a way to sessions of the server, before and after a load. Leaves: counter
columns: the raw values at both ends for the statements that took most, the rest as one. Never:
resets anything, reads a statement's text, or works while the load is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from pgassay import _core
from pgassay.errors import ConnectionRefused, TargetError
from pgassay.target.protocol import Connection
from pgassay.trials.queries import Extension, Query, queries_for
from pgassay.trials.record import Columns

SOURCE = "statements"
OTHERS = "(others)"
MOST_STATEMENTS = 100
_RANKED_BY = "exec_time_ms"

_Values = dict[str, dict[str, float]]
"""queryid → name → value."""


class StatementWatch:
    """Two readings around a load, or one after the other; the first is taken here."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        version_num: int,
        extensions: Mapping[str, Extension],
    ) -> None:
        self._connect = connect
        self.notes: tuple[str, ...] = ()
        query: Query | None = queries_for(version_num).get(SOURCE)
        self._sql = query.sql_with(extensions) if query is not None else None
        self._began_ns, self._before = self._read()

    def counters(self) -> Columns:
        """One more reading, set against the one before it."""
        ended_ns, after = self._read()
        began_ns, before = self._began_ns, self._before
        self._began_ns, self._before = ended_ns, after
        if before is None or after is None:
            return {name: [] for name in _COLUMNS}
        return changed(began_ns, before, ended_ns, after)

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
            self.notes = (f"pg_stat_statements could not be read: {error}",)
            return 0, None  # the server may be back by the next time
        except (psycopg.Error, TargetError) as error:
            # Installed but not preloaded, or not ours to read.
            self.notes = (f"pg_stat_statements could not be read: {str(error).splitlines()[0]}",)
            self._sql = None
            return 0, None
        return _core.now_ns(), found


_COLUMNS = ("time_ns", "source", "object", "name", "value")


def changed(
    began_ns: int, before: _Values, ended_ns: int, after: _Values, most: int = MOST_STATEMENTS
) -> dict[str, list[Any]]:
    """Counter columns of the statements that were run between two readings.

    One that went backwards was reset or forgotten on the way: it is left out. One that is new
    began at zero.
    """
    grown: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    for queryid, values in after.items():
        start = before.get(queryid, dict.fromkeys(values, 0.0))
        if values["calls"] > start["calls"] and all(values[n] >= start[n] for n in values):
            grown[queryid] = (start, values)
    ranked = sorted(
        grown, key=lambda q: grown[q][1][_RANKED_BY] - grown[q][0][_RANKED_BY], reverse=True
    )
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for queryid in ranked[:most]:
        _add(columns, queryid, began_ns, grown[queryid][0], ended_ns, grown[queryid][1])
    rest = [grown[queryid] for queryid in ranked[most:]]
    if rest:
        total = {name: sum(end[name] - start[name] for start, end in rest) for name in rest[0][1]}
        _add(columns, OTHERS, began_ns, dict.fromkeys(total, 0.0), ended_ns, total)
    return columns


def joined(first: Columns, second: Columns) -> Columns:
    """The rows of both."""
    return {name: [*first[name], *second[name]] for name in _COLUMNS}


def _add(
    columns: dict[str, list[Any]],
    queryid: str,
    began_ns: int,
    start: Mapping[str, float],
    ended_ns: int,
    end: Mapping[str, float],
) -> None:
    for at, values in ((began_ns, start), (ended_ns, end)):
        for name, value in values.items():
            for column, cell in zip(_COLUMNS, (at, SOURCE, queryid, name, value), strict=True):
                columns[column].append(cell)
