"""Variants of the schema on an existing server: SQL, and what takes it back.

Enters: a session in the workload's search path, a journal, variants. Leaves: the variant asked
for in force, and none after `undo`. Never: runs SQL before its undo is on disk.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import psycopg
from psycopg import sql

from pgassay.errors import TargetError
from pgassay.target.protocol import Change, Connection, Journal, SchemaVariant
from pgassay.target.schema import SCHEMA
from pgassay.target.session import identity, target_failure, told_as_target_error

PATH = sql.SQL("SET LOCAL search_path = {}, public; ").format(sql.Identifier(SCHEMA))
"""What every undo of ours begins with: names in it are looked for where the SQL made them."""
NOT_THERE = (
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.InvalidSchemaName,
)
"""What undoing SQL that was journalled and never run ends with: it is run whole or not at all."""


class SchemaVariants:
    """The variants of one run, of which one at most is in force."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, SchemaVariant] = {}
        self._applied: SchemaVariant | None = None
        self._change: Change | None = None

    @property
    def left(self) -> list[str]:
        """The SQL that is still to run before the schema is as it was built."""
        return [] if self._change is None else [self._change.undo]

    def add(self, session: Connection, variant: SchemaVariant) -> None:
        """Try a variant and its undo, leaving nothing of either."""
        if len(variant.undo) != len(variant.parts):
            raise TargetError(f"{variant.name}: an existing server needs undo beside sql")
        with session.transaction(force_rollback=True):
            _run(session, variant.parts)
            _run(session, _backwards(variant))
        self._known[variant.name] = variant

    def bring(self, session: Connection, name: str) -> None:
        """Take back the variant in force, where it is another, and make this one; "" is none."""
        if name and name not in self._known:
            raise TargetError(f"{name}: this variant of the data was not made")
        if name == (self._applied.name if self._applied else ""):
            return
        self.undo(session)
        if name:
            self._apply(session, self._known[name])

    def undo(self, session: Connection) -> None:
        """Take back what is in force."""
        if self._change is not None:
            with told_as_target_error(self._change.what):
                take_back(session, self._change.undo)
            self._journal.undone(self._change.id)
        self._applied = self._change = None

    def _apply(self, session: Connection, variant: SchemaVariant) -> None:
        undo = "; ".join(text.strip().rstrip(";") for text in _backwards(variant).values())
        change = Change(
            id=uuid.uuid4().hex,
            what=f"schema, {variant.name}",
            do="; ".join(variant.parts.values()),
            undo=PATH.as_string(session) + undo,
            server=identity(session, with_database=True),
        )
        self._change = change
        self._journal.record(change)
        with session.transaction():
            _run(session, variant.parts)
        self._applied = variant


def is_undo_of_a_variant(session: Connection, undo: str) -> bool:
    """Whether a journal's entry is one of these."""
    return undo.startswith(PATH.as_string(session))


def take_back(session: Connection, undo: str) -> None:
    """Run an undo; nothing to do where its SQL was never run."""
    try:
        with session.transaction():
            session.execute(undo.encode(), prepare=False)
    except NOT_THERE:
        return


def _backwards(variant: SchemaVariant) -> dict[str, str]:
    return dict(list(variant.undo.items())[::-1])


def _run(session: Connection, parts: Mapping[str, str]) -> None:
    for what, statements in parts.items():
        try:
            session.execute(statements.encode(), prepare=False)
        except psycopg.Error as error:
            raise target_failure(error, what) from error
