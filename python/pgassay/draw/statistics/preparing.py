"""The types of a statement's parameters, as the server infers them.

Enters: a session that only reads, a statement's text. Leaves: a type for each parameter. Never:
executes the statement: it is parsed by PREPARE in a transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

_NAME = sql.Identifier("pgassay_draw")


@dataclass(frozen=True, slots=True)
class Type:
    """A type of the source."""

    name: str
    """As format_type shows it."""
    element: str | None = None
    """The type of an array's elements."""
    base: str | None = None
    """The base type of a domain."""
    labels: tuple[str, ...] = ()
    """Those of an enum, or of the enum that an array has."""

    @property
    def plain(self) -> str:
        """The name, of a domain that of its base type."""
        return self.base or self.name


class Preparer:
    """Asks a server for types; each type is described once."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._types: dict[int, Type] = {}

    def types(self, text: str, path: str) -> list[Type] | str:
        """Returns the types of `$1`, `$2` … of a single statement, with that search path; where the
        server does not prepare it, the code of why. Raises psycopg.Error where the session ends."""
        try:
            oids = self._prepared(text, path)
        except psycopg.errors.InsufficientPrivilege:
            return "draw/not-allowed"
        except psycopg.Error:
            if self._session.closed:
                raise
            return "draw/not-prepared"
        self._describe([oid for oid in oids if oid not in self._types])
        return [self._types[oid] for oid in oids]

    def _prepared(self, text: str, path: str) -> list[int]:
        try:
            with self._session.transaction(force_rollback=True):
                self._session.execute(statement("drawing/use_path"), (path,), prepare=False)
                self._session.execute(
                    sql.SQL("PREPARE {} AS ").format(_NAME) + sql.SQL(text),
                    prepare=False,
                )
                row = self._session.execute(statement("drawing/prepared"), prepare=False).fetchone()
        finally:
            # A prepared statement outlives its transaction.
            with suppress(psycopg.errors.InvalidSqlStatementName):
                self._session.execute(sql.SQL("DEALLOCATE {}").format(_NAME), prepare=False)
        return [] if row is None else list(row[0])

    def _describe(self, oids: Sequence[int]) -> None:
        if oids:
            rows = self._session.execute(
                statement("drawing/types"), ([*oids],), prepare=False
            ).fetchall()
            for oid, name, element, base, labels in rows:
                self._types[oid] = Type(name, element, base, tuple(labels or ()))
