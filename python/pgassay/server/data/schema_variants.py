"""Variants of the schema on an existing server: SQL, and the SQL that undoes it.

Enters: a session in the workload's search path, a journal, variants. Leaves: the variant asked
for in force, and none after `undo`. Never: runs SQL before its undo is on disk.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import psycopg

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import VariantChange
from pgassay.server.connection.session import as_target_error, identity, target_failure, user_path
from pgassay.server.protocol import Connection, Journal, SchemaVariant
from pgassay.server.undo.undo_sql import PATH, undo_text

NOT_THERE = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.InvalidSchemaName,
)
"""Errors of an undo whose SQL was journaled and never run; a part runs whole or not at all."""


class SchemaVariants:
    """The variants of the schema of one run, of which at most one is in force."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, SchemaVariant] = {}
        self._applied: SchemaVariant | None = None
        self._changes: list[VariantChange] = []
        """One for each part of the variant in force, in order."""

    @property
    def left(self) -> list[str]:
        """The SQL that is still to run before the schema is as it was built."""
        return [undo_text(change) for change in reversed(self._changes)]

    def add(self, session: Connection, variant: SchemaVariant) -> float:
        """Tries a variant and its undo, leaving nothing of either, and keeps it; returns how long
        its SQL took (s)."""
        if len(variant.undo) != len(variant.parts):
            raise TargetRefused("variant-without-undo", variant=variant.name)
        with session.transaction(force_rollback=True):
            took_s = run_parts(session, variant.parts)
            run_parts(session, _backwards(variant))
        self._known[variant.name] = variant
        return took_s

    def bring(self, session: Connection, name: str) -> None:
        """Undoes the variant in force, where it is another, and makes this one; "" stands for the
        schema as built."""
        if name and name not in self._known:
            raise TargetRefused("variant-not-made", variant=name)
        if name == (self._applied.name if self._applied else ""):
            return
        self.undo(session)
        if name:
            self._apply(session, self._known[name])

    def undo(self, session: Connection) -> None:
        """Undo the variant in force, the last part first; an error keeps what is undone already."""
        self._applied = None
        while self._changes:
            change = self._changes[-1]
            with as_target_error(change.what):
                take_back(session, change)
            self._journal.undone(change.id)
            self._changes.pop()

    def _apply(self, session: Connection, variant: SchemaVariant) -> None:
        server = identity(session)
        for part, undo in enumerate(variant.undo.values(), start=1):
            change = VariantChange(
                database=session.info.dbname,
                name=variant.name,
                part=part,
                parts=len(variant.parts),
                undo=undo,
                server=server,
            )
            self._changes.append(change)
            self._journal.record(change)
        with session.transaction():
            run_parts(session, variant.parts)
        self._applied = variant


def take_back(session: Connection, change: VariantChange) -> None:
    """Run the undo of one part in one transaction.

    A part that is gone is no error: its SQL was never run, or another user has undone it.
    """
    try:
        with session.transaction():
            session.execute(PATH)
            session.execute(change.undo.encode(), prepare=False)
    except NOT_THERE:
        return


def _backwards(variant: SchemaVariant) -> dict[str, str]:
    return dict(list(variant.undo.items())[::-1])


def run_parts(session: Connection, parts: Mapping[str, str]) -> float:
    """Runs the parts of a variant, or what takes them back, and returns how long that took (s)."""
    began = time.monotonic()
    for what, statements in parts.items():
        try:
            with user_path(session):
                session.execute(statements.encode(), prepare=False)
        except psycopg.Error as error:
            raise target_failure(error, what) from error
    return time.monotonic() - began
