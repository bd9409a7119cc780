"""Rows of the source's tables, columns of a row together, and what pg_stats knows of a column.

Enters: a session that only reads, the tables and columns that statements need. Leaves: samples as
text, in a random order. Never: reads more than a part of a large table, waits long, or shows a
value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

from pgassay.draw.tables.catalogue import Table
from pgassay.draw.tables.guesses import INTEGERS
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

_MOST_PAGES = 2000
"""Read of a table at most: 16 MB."""
_ROWS_OF_A_PAGE = 50.0
"""Assumed where a table was never analysed."""
_MOST_BYTES = 64 << 20
"""Of one sample."""
_FIRST_ROWS, _FETCHED_ROWS, _FETCHED_BYTES = 10, 5000, 4 << 20
"""Rows that are fetched first; rows and bytes of a fetch after it."""
_CURSOR = "pgassay_rows"
_WIDTH = 32
"""Bytes of a value whose width is not known."""
_IN_ORDER = 0.9
"""Of a correlation."""
_FORMS = (
    "SET DateStyle = 'ISO, MDY'",
    "SET IntervalStyle = 'postgres'",
    "SET extra_float_digits = 1",
    "SET bytea_output = 'hex'",
)
_REFUSED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.QueryCanceled,
    psycopg.errors.LockNotAvailable,
)
Values = list[str | None]


@dataclass(frozen=True, slots=True)
class Common:
    """What pg_stats knows of a column's values."""

    values: tuple[str, ...]
    shares: tuple[float, ...]
    """Of all rows, by value."""
    bounds: tuple[str, ...]
    """Of the other values: as many of them lie between each two."""

    def drawn(self, rows: int, random: np.random.Generator) -> Values:
        """Returns values by their shares; of the others bounds of the histogram."""
        weights = np.array([*self.shares, max(0.0, 1 - sum(self.shares)) if self.bounds else 0.0])
        picks = random.choice(len(weights), rows, p=weights / weights.sum())
        others = random.integers(0, max(1, len(self.bounds)), rows)
        return [
            self.values[pick] if pick < len(self.values) else self.bounds[other]
            for pick, other in zip(picks, others, strict=True)
        ]


class Sampler:
    """Samples tables; each once, with all columns that are needed of it."""

    def __init__(self, session: Connection, rows: int, random: np.random.Generator) -> None:
        self._session = session
        self._rows = rows
        self._random = random
        self._samples: dict[tuple[int, bool], dict[str, Values] | None] = {}
        self.denied: set[str] = set()
        """Tables that this role may not read, or that took too long."""
        for setting in _FORMS:
            session.execute(setting.encode(), prepare=False)

    def sample(
        self, table: Table, columns: Iterable[str], *, written: bool = False, rows: int = 0
    ) -> None:
        """Samples the columns of a table, those that are `written` apart from those that rows are
        looked up by, at least `rows` rows; see `values`. Raises psycopg.OperationalError."""
        names, key = sorted(set(columns)), (table.oid, written)
        if not table.has_rows or not names or key in self._samples:
            return
        try:
            self._samples[key] = self._read(table, names, max(rows, self._rows))
        except _REFUSED:
            self.denied.add(table.quoted)
            self._samples[key] = None

    def values(self, table: Table, column: str, *, written: bool = False) -> Values | None:
        """Returns the sampled values of a column, place by place those of the same rows as the
        table's other columns; None without a row."""
        return (self._samples.get((table.oid, written)) or {}).get(column) or None

    def size(self, table: Table, *, written: bool = False) -> int:
        """Returns how many rows of a table were sampled."""
        found = self._samples.get((table.oid, written)) or {}
        return max((len(one) for one in found.values()), default=0)

    def common(self, table: Table, column: str) -> Common | None:
        """Returns what pg_stats knows of a column; None where that is nothing."""
        row = self._stats(table, column)
        if row is None or not (row[0] or row[2]):
            return None
        return Common(tuple(row[0] or ()), tuple(row[1] or ()), tuple(row[2] or ()))

    def is_in_order(self, table: Table, column: str) -> bool:
        """Whether pg_stats says that the table's rows lie in the order of a column: new rows then
        have values above all others."""
        row = self._stats(table, column)
        return row is not None and (row[3] or 0.0) > _IN_ORDER

    def highest(self, table: Table, column: str) -> str | None:
        """Returns the highest value of a column, where no unique index begins with it the highest
        that was sampled; None without a row, or where it may not be read."""
        found = table.column(column)
        if found is None or not table.has_rows or table.quoted in self.denied:
            return None
        if not any(names[0] == column for names in table.unique):
            # The server would read the whole table.
            known = [one for one in self.values(table, column, written=True) or () if one]
            return max(known, key=int if found.type in INTEGERS else str, default=None)
        asked = sql.SQL("SELECT pg_catalog.max({})::pg_catalog.text FROM {}").format(
            sql.SQL(found.quoted),
            sql.SQL(table.quoted),
        )
        try:
            row = self._session.execute(asked, prepare=False).fetchone()
        except _REFUSED:
            return None
        return None if row is None else row[0]

    def _stats(self, table: Table, column: str) -> tuple[Any, ...] | None:
        where = (table.schema, table.name, column)
        return self._session.execute(statement("drawing/common"), where, prepare=False).fetchone()

    def _read(self, table: Table, names: Sequence[str], most: int) -> dict[str, Values]:
        columns = [one for name in names if (one := table.column(name)) is not None]
        width = sum(one.width or _WIDTH for one in columns)
        wanted = max(1, min(most, _MOST_BYTES // max(1, width)))
        pages = max(1, table.pages)
        share = min(1.0, _MOST_PAGES / pages)
        expected = share * (table.rows or pages * _ROWS_OF_A_PAGE)
        asked = sql.SQL(
            "SELECT {} FROM {} TABLESAMPLE system ({}) WHERE pg_catalog.random() < {} LIMIT {}"
        ).format(
            sql.SQL(", ").join(sql.SQL(f"{one.quoted}::pg_catalog.text") for one in columns),
            sql.SQL(table.quoted),
            sql.Literal(100 * share),
            # A little more than wanted, so that chance leaves enough.
            sql.Literal(min(1.0, 1.2 * wanted / max(1.0, expected))),
            sql.Literal(wanted),
        )
        rows = self._fetched(asked)
        order = self._random.permutation(len(rows))
        return {
            one.name: [rows[place][number] for place in order] for number, one in enumerate(columns)
        }

    def _fetched(self, asked: sql.Composed) -> list[tuple[str | None, ...]]:
        """The rows of a query, as many as _MOST_BYTES hold: the mean width of a column does not
        count what its values have in TOAST, so rows are fetched a few at a time."""
        rows: list[tuple[str | None, ...]] = []
        left, count = _MOST_BYTES, _FIRST_ROWS
        try:
            with self._session.transaction(), self._session.cursor(_CURSOR) as cursor:
                cursor.execute(asked)
                while left > 0 and (more := cursor.fetchmany(count)):
                    rows += more
                    read = sum(len(one) for row in more for one in row if one)
                    left -= read
                    count = max(1, min(_FETCHED_ROWS, _FETCHED_BYTES * len(more) // max(1, read)))
        except psycopg.errors.QueryCanceled:
            if not rows:
                raise
        return rows
