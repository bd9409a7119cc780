"""The types of a statement's parameters, as the server infers them.

Enters: a session that only reads, a statement's text. Leaves: a type for each parameter. Never:
executes the statement: it is parsed by PREPARE in a transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import psycopg
from psycopg import sql

from pgassay.draw.statements.parsing import tokens_of
from pgassay.draw.tables.types import Type
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
_MOST_TRIES = 60
"""For a statement: each that the server refuses is an error in its log."""


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
        tries = iter(range(_MOST_TRIES))
        for _ in range(_MOST_CASTS):
            try:
                return self._asked(text, path)
            except _UNTYPED as error:
                text = self._with_a_cast(text, path, error, tries)
        return self._asked(text, path)

    def _asked(self, text: str, path: str) -> Prepared:
        oids = self._oids(text, path)
        self._describe([oid for oid in oids if oid not in self._types])
        return Prepared(text, tuple(self._types[oid] for oid in oids))

    def _with_a_cast(self, text: str, path: str, error: psycopg.Error, tries: Iterator[int]) -> str:
        """The text with a type for one of the parameters nearest to the error, with which the
        server takes it; else for the nearest, with which it goes on to another place. Raises the
        error where no type helps."""
        place = _place(error)
        untyped = [
            one
            for one in tokens_of(text)
            if one.name == "PARAM" and not text.startswith("::", one.end)
        ]
        if place == 0 or not untyped:
            raise error
        # The place of an operator is before its right side.
        untyped.sort(key=lambda one: (abs(one.start - place), -one.start))
        elsewhere: dict[bool, str] = {}
        for _, (one, type_name) in zip(tries, product(untyped, _CAST_TO), strict=False):
            tried = f"{text[: one.end]}::{type_name}{text[one.end :]}"
            try:
                self._oids(tried, path)
            except psycopg.Error as now:
                if self._session.closed:
                    raise
                if not isinstance(now, _UNTYPED):
                    continue
                found = _place(now)
                found -= len(tried) - len(text) if found > one.end else 0
                if one is untyped[0] and found != place:
                    elsewhere.setdefault(found > place, tried)
            else:
                return tried
        # What stands around an operator is looked at after it, though it may begin before.
        further = elsewhere.get(True, elsewhere.get(False))
        if further is None:
            raise error
        return further

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
