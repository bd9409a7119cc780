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

from pgassay.draw.statements.parsing import tokens_of
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

NOT_FOUND = "draw/table-not-found"
_NAME = sql.Identifier("pgassay_draw")
_BEFORE = len('PREPARE "pgassay_draw" AS ')
_UNTYPED = (
    psycopg.errors.AmbiguousFunction,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.IndeterminateDatatype,
)
_CAST_TO = ("integer", "interval", "numeric", "text", "timestamptz")
_MOST_CASTS = 8


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


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement as the server prepares it."""

    text: str
    """With casts where the server could not tell a type."""
    types: tuple[Type, ...]
    """Those of `$1`, `$2` …"""


class Preparer:
    """Asks a server for types; each type is described once."""

    def __init__(self, session: Connection) -> None:
        self._session = session
        self._types: dict[int, Type] = {}

    def prepared(self, text: str, path: str) -> Prepared | str:
        """Returns how the server prepares a single statement with that search path; where it does
        not, the code of why. Raises psycopg.Error where the session ends.

        In the statistics a constant is a parameter without its type: `day + 1` has become
        `day + $1`, which could be an integer, an interval or a time. Such a parameter gets the
        first type that the server takes.
        """
        try:
            return self._typed(text, path)
        except psycopg.errors.InsufficientPrivilege:
            return "draw/not-allowed"
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            return NOT_FOUND
        except psycopg.Error:
            if self._session.closed:
                raise
            return "draw/not-prepared"

    def _typed(self, text: str, path: str) -> Prepared:
        for _ in range(_MOST_CASTS):
            try:
                return self._asked(text, path)
            except _UNTYPED as error:
                text = self._with_a_cast(text, path, error)
        return self._asked(text, path)

    def _asked(self, text: str, path: str) -> Prepared:
        oids = self._oids(text, path)
        self._describe([oid for oid in oids if oid not in self._types])
        return Prepared(text, tuple(self._types[oid] for oid in oids))

    def _with_a_cast(self, text: str, path: str, error: psycopg.Error) -> str:
        """The text with a type for the parameter nearest to the error, with which the server goes
        on at least to a later place; raises the error where no type helps."""
        place = _place(error)
        untyped = [
            one
            for one in tokens_of(text)
            if one.name == "PARAM" and not text.startswith("::", one.end)
        ]
        if place == 0 or not untyped:
            raise error
        # The place of an operator is before its right side.
        nearest = min(untyped, key=lambda one: (abs(one.start - place), -one.start))
        for type_name in _CAST_TO:
            tried = f"{text[: nearest.end]}::{type_name}{text[nearest.end :]}"
            try:
                self._oids(tried, path)
            except psycopg.Error as now:
                if self._session.closed:
                    raise
                if not isinstance(now, _UNTYPED) or _place(now) <= max(place, nearest.end):
                    continue
            return tried
        raise error

    def _oids(self, text: str, path: str) -> list[int]:
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


def _place(error: psycopg.Error) -> int:
    """Where in the text the server found the error, in characters from 0; 0 if it did not say."""
    return max(0, int(error.diag.statement_position or 0) - 1 - _BEFORE)
