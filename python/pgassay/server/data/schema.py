"""The schema that holds a workload's data on an existing server.

Enters: a session, a journal. Leaves: an empty schema with pgassay's mark, its tables vacuumed;
nothing after `drop`. Never: touches a schema of the same name without that mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg
from psycopg import sql

from pgassay.notes import Note
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import SchemaChange
from pgassay.server.connection.session import as_target_error, identity, target_failure
from pgassay.server.protocol import Connection, Journal
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import DROP_SCHEMA, SCHEMA, undo_text

SEARCH_PATH: Mapping[str, str] = {"search_path": f"{SCHEMA},public"}
"""What a session that works in it starts with."""
MARK = "made by pgassay"
"""What a run makes has this comment, and may be dropped by any."""
CREATE = sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA))


def is_mark(comment: str) -> bool:
    """Returns whether a comment says that pgassay made the object."""
    return comment.partition("\n")[0] == MARK


def refuse_foreign(session: Connection) -> bool:
    """Returns whether the schema `pgassay` is there; raises TargetRefused for one that pgassay did
    not make."""
    row = session.execute(statement("data/schema_comment"), (SCHEMA,)).fetchone()
    if row is None:
        return False
    if not is_mark(row[0] or ""):
        raise TargetRefused("foreign-schema", database=session.info.dbname, schema=SCHEMA)
    return True


def make_schema(session: Connection) -> None:
    """Make an empty schema with pgassay's mark, in place of one that has it already."""
    try:
        with session.transaction():
            session.execute(DROP_SCHEMA)
            session.execute(CREATE)
            session.execute(
                sql.SQL("COMMENT ON SCHEMA {} IS {}").format(
                    sql.Identifier(SCHEMA), sql.Literal(MARK)
                )
            )
    except psycopg.Error as error:
        raise target_failure(error, f"making the schema {SCHEMA}") from error


class WorkloadSchema:
    """The schema that one run makes for its workload, journals, and drops at its end."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._change: SchemaChange | None = None

    @property
    def left(self) -> list[str]:
        """The SQL that would restore the server now."""
        return [] if self._change is None else [undo_text(self._change)]

    def create(self, session: Connection) -> None:
        """Makes the schema empty; one that a killed run has left under pgassay's mark is dropped
        first."""
        refuse_foreign(session)
        if self._change is None:
            change = SchemaChange(database=session.info.dbname, server=identity(session))
            self._change = change
            self._journal.record(change)
        make_schema(session)

    def drop(self, session: Connection) -> None:
        """Drops the schema if this run made it."""
        if self._change is None:
            return
        if refuse_foreign(session):
            session.execute(DROP_SCHEMA)
        self._journal.undone(self._change.id)
        self._change = None


def settle(session: Connection) -> list[Note]:
    """Runs VACUUM (FREEZE, ANALYZE) and CHECKPOINT, as far as this user may; returns notes on what
    was left out."""
    return vacuum_schema(session) + checkpoint(session)


def checkpoint(session: Connection) -> list[Note]:
    """Runs CHECKPOINT if this role may; returns a note where it may not."""
    try:
        session.execute("CHECKPOINT")
    except psycopg.errors.InsufficientPrivilege:
        return [Note("server/data/no-checkpoint", {"user": session.info.user})]
    except psycopg.Error as error:
        raise target_failure(error, "CHECKPOINT before a trial") from error
    return []


@contextmanager
def warnings_noted(session: Connection) -> Iterator[list[Note]]:
    """Collects, while the block lasts, what the server warns of."""
    notes: list[Note] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING" and diagnostic.message_primary:
            notes.append(Note("server/data/warned", {"sentence": diagnostic.message_primary}))

    session.add_notice_handler(note)
    try:
        yield notes
    finally:
        session.remove_notice_handler(note)


def vacuum_schema(session: Connection) -> list[Note]:
    """Runs VACUUM (FREEZE, ANALYZE) on the workload's tables; returns what the server warned of."""
    with as_target_error("settling the server between trials"), warnings_noted(session) as notes:
        rows = session.execute(statement("data/schema_tables"), (SCHEMA,)).fetchall()
        for command, partitioned in (("VACUUM (FREEZE, ANALYZE) {}", False), ("ANALYZE {}", True)):
            names = [
                sql.Identifier(SCHEMA, name) for name, is_parent in rows if is_parent == partitioned
            ]
            if names:
                session.execute(sql.SQL(command).format(sql.SQL(", ").join(names)))
    return notes
