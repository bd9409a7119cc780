"""What the server's catalogue says of the tables that statements name.

Enters: a session that only reads, names as statements have them. Leaves: tables with their columns,
keys and sizes. Never: reads a row of a table of the user's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from pgassay.draw.statements.parsing import Node, Unparsable, parsed
from pgassay.draw.statements.scopes import TableName
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

_WITH_ROWS = {"r", "p", "m"}
"""Kinds of relations that TABLESAMPLE takes: tables, partitioned tables, materialised views."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table."""

    name: str
    type: str
    """As format_type shows it; of a domain its base type."""
    quoted: str
    width: int | None
    """Mean bytes of a value, where the role may see it."""
    parent: int | None = None
    """The oid of the table that a foreign key of this column alone refers to."""
    parent_column: str | None = None
    refers: bool = False
    """Whether it is in a foreign key, alone or with others."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the source."""

    oid: int
    schema: str
    name: str
    quoted: str
    """schema.table."""
    kind: str
    pages: int
    rows: float | None
    """Estimated; None where it was never analysed."""
    columns: tuple[TableColumn, ...]
    unique: tuple[tuple[str, ...], ...]

    @property
    def has_rows(self) -> bool:
        """Whether rows of it can be sampled."""
        return self.kind in _WITH_ROWS

    def column(self, name: str) -> TableColumn | None:
        """Returns the column of that name."""
        return next((one for one in self.columns if one.name == name), None)


class Catalogue:
    """The tables of a server, each read once."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._oids: dict[tuple[str, TableName], Table | None] = {}
        self._tables: dict[int, Table] = {}

    def table(self, path: str, name: TableName) -> Table | None:
        """Returns the table that a name means with that search path; None where there is none.
        Raises psycopg.Error."""
        if (path, name) not in self._oids:
            self._oids[path, name] = self._read(path, name)
        return self._oids[path, name]

    def columns_of(self, path: str, name: TableName) -> Sequence[str] | None:
        """Returns the names of a table's columns in their order; None where there is none."""
        found = self.table(path, name)
        return None if found is None else [one.name for one in found.columns]

    def view_of(self, path: str, name: TableName) -> Node | None:
        """Returns the query of a view, whose tables have their schemas; None where the name means
        none. Raises psycopg.Error."""
        found = self.table(path, name)
        if found is None or found.kind != "v":
            return None
        with self._session.transaction():
            self._session.execute(statement("drawing/use_path"), ("",), prepare=False)
            row = self._session.execute(
                statement("drawing/view"), (found.oid,), prepare=False
            ).fetchone()
        try:
            return parsed(row[0]) if row and row[0] else None
        except Unparsable:  # of a version that the parser does not know
            return None

    def _read(self, path: str, name: TableName) -> Table | None:
        parts = [part for part in name if part is not None]
        quoted = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
        try:
            with self._session.transaction():
                self._session.execute(statement("drawing/use_path"), (path,), prepare=False)
                found = self._session.execute(
                    statement("drawing/find_table"), (quoted,), prepare=False
                ).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            return None
        return self.of(found[0]) if found and found[0] else None

    def of(self, oid: int) -> Table | None:
        """Returns the table of an oid; None where it is gone. Raises psycopg.Error."""
        run = self._session.execute
        if oid not in self._tables:
            row = run(statement("drawing/table"), (oid,), prepare=False).fetchone()
            if row is None:
                return None
            _, schema, name, whole, kind, pages, rows = row
            columns = run(statement("drawing/columns"), (oid,), prepare=False).fetchall()
            unique = run(statement("drawing/unique"), (oid,), prepare=False).fetchall()
            self._tables[oid] = Table(
                oid, schema, name, whole, kind, pages or 0, rows,
                tuple(TableColumn(*column) for column in columns),
                tuple(tuple(names) for (names,) in unique),
            )  # fmt: skip
        return self._tables[oid]
