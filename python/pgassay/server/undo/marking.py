"""Writes the mark of a run on the server, and finds those that killed runs have left.

Enters: changes about to be made, a session. Leaves: a comment on a database, which every database
of the cluster shows; or where this role may comment on none, on the schema pgassay. Never: takes a
mark of another run away.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgassay.errors import TargetError
from pgassay.refusals.refusal import TargetRefused, refuse
from pgassay.server.change import Change, KnobChange, visible
from pgassay.server.connection.session import as_target_error, connect
from pgassay.server.protocol import Connection, ConnectionParameters, Journal
from pgassay.server.statements import statement
from pgassay.server.undo.change_record import JournalAround, this_machine
from pgassay.server.undo.mark import Mark, mark_in, with_changes, with_mark, without_mark
from pgassay.server.undo.run_lock import refuse_other_runs
from pgassay.server.undo.undo_sql import SCHEMA
from pgassay.spec.secrets.redaction import redacted

REMOVAL_OF_SCHEMA = f"COMMENT ON SCHEMA {SCHEMA} IS NULL"
"""The mark alone; the schema stays."""


@dataclass(frozen=True)
class Place:
    """Which comment holds a mark; without a database it is that of the schema."""

    database: str = ""

    def write(self, session: Connection, mark: Mark) -> None:
        """Brings the mark in this comment up to date, or removes one without changes."""
        now = self._comment(session)
        if now is None:
            return  # the schema is not made yet, or dropped already
        wanted = with_mark(now, mark)
        if wanted != now:
            session.execute(self._statement(sql.Literal(wanted or None)), prepare=False)

    def removal(self, session: Connection) -> list[str]:
        """The SQL for a person that leaves the user's own comment."""
        if not self.database:
            return []  # the schema goes with its comment
        own = without_mark(self._comment(session) or "")
        # On one line, as the SQL beside it.
        text = own.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
        quoted = sql.SQL(f"E'{text}'" if own else "NULL")
        return [self._statement(quoted).as_string(session)]

    def _comment(self, session: Connection) -> str | None:
        row = session.execute(
            statement("existing/mark_comment"), {"database": self.database, "schema": SCHEMA}
        ).fetchone()
        return None if row is None else str(row[0] or "")

    def _statement(self, text: sql.Composable) -> sql.Composed:
        kind, name = ("DATABASE", self.database) if self.database else ("SCHEMA", SCHEMA)
        return sql.SQL(f"COMMENT ON {kind} {{}} IS {{}}").format(sql.Identifier(name), text)

    def __str__(self) -> str:
        return f"database {self.database}" if self.database else f"schema {SCHEMA}"


@dataclass(frozen=True)
class FoundMark:
    """A mark on the server."""

    mark: Mark
    place: Place
    author: str
    """The role that owns the place; this role, its members and superusers can have written it."""
    of_superuser: bool

    def refusal(self, dsn: str) -> TargetRefused:
        """Why nothing is done on this server until the mark is gone."""
        return TargetRefused(
            "killed-run-by-mark",
            who=self.mark.who,
            what=self.mark.what,
            source=self.source,
            server=shlex.quote(redacted(dsn)),
            role=visible(self.mark.role),
        )

    @property
    def source(self) -> str:
        """Where the mark stands, and who can have written it."""
        of, author = visible(str(self.place)), visible(self.author)
        return f"so says the comment of {of}, which its owner {author} may write"


def begun(journal: Journal, role: str, order: Sequence[str], digests: Mapping[str, str]) -> Mark:
    """Makes the mark of a run that begins now, before its first change."""
    place = str(Path(journal.place).parent) if journal.place else ""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    machine = journal.machine or this_machine()
    return Mark(place, journal.run, machine, role, now, order=tuple(order), digests=digests)


def place_for(session: Connection) -> Place:
    """Where this role writes its mark."""
    row = session.execute(statement("existing/mark_place")).fetchone()
    return Place("" if row is None else str(row[0]))


def found_marks(session: Connection) -> tuple[list[FoundMark], list[TargetRefused]]:
    """The marks on this server that this session can see; a refusal for each that cannot be
    read: anyone who owns a database can write such a comment."""
    found, unread = list[FoundMark](), list[TargetRefused]()
    for place, author, of_superuser, comment in _comments(session):
        try:
            mark = mark_in(comment)
        except ValueError as error:
            (removal,) = place.removal(session) or [REMOVAL_OF_SCHEMA]
            texts = {"place": place, "why": error, "author": author, "removal": removal}
            shown = {name: visible(str(text)) for name, text in texts.items()}
            unread.append(TargetRefused("mark-unreadable", **shown))
            continue
        if mark is not None:
            found.append(FoundMark(mark, place, author, of_superuser))
    return found, unread


def own_mark(session: Connection, run: str) -> FoundMark | None:
    """Returns the mark of a run of this role, by the name drawn for its journal."""
    own = place_for(session)
    for place, author, of_superuser, comment in _comments(session):
        with suppress(ValueError):
            mark = mark_in(comment) if place == own else None
            if mark is not None and mark.id == run:
                return FoundMark(mark, place, author, of_superuser)
    return None


def _comments(session: Connection) -> Iterator[tuple[Place, str, bool, str]]:
    for database, *rest in session.execute(statement("existing/marks"), (SCHEMA,)).fetchall():
        author, of_superuser, comment = rest
        yield Place(database or ""), author, of_superuser, comment


def left_on(where: ConnectionParameters) -> str:
    """Why a run would not begin on this server, as far as marks say it; empty where none does."""
    with suppress(TargetError, psycopg.Error), connect(where, through_pooler=True) as session:
        refuse_other_runs(session)
        marks, unread = found_marks(session)
        return str(next(iter([*(one.refusal(words_of(where)) for one in marks), *unread]), ""))
    return ""


def words_of(where: ConnectionParameters) -> str:
    """Returns a connection string for a person, without a password."""
    return make_conninfo(host=where.host, port=where.port, user=where.user, dbname=where.dbname)


def refuse_marked(session: Connection, dsn: str, known: Collection[str] = ()) -> None:
    """TargetError where a killed run has left its mark; while this is asked no run is alive. Those
    of `known` runs, by the names drawn for their journals, are recovered from these."""
    with as_target_error("looking for what killed runs have left"):
        marks, unread = found_marks(session)
    refuse([*(one.refusal(dsn) for one in marks if one.mark.id not in known), *unread])


class ServerMark:
    """The mark of one run; nothing is written before `begin`."""

    def __init__(self) -> None:
        self._open: list[Change] = []
        self._removal: list[str] = []
        self._written: Mark | None = None
        self._begun: tuple[Callable[[], Connection], Place, Mark] | None = None

    def begin(
        self,
        session: Callable[[], Connection],
        place: Place,
        mark: Mark,
        changes: Sequence[Change] = (),
    ) -> None:
        """Marks the changes of this run at this place from now on; these are there already."""
        self._begun, self._open = (session, place, mark), list(changes)

    @property
    def left(self) -> list[str]:
        """The SQL for a person that would remove the mark now."""
        return self._removal if self._written is not None and self._written.changes else []

    def add(self, change: Change) -> None:
        """Adds a change to the mark, which is on the server when this returns."""
        self._bring_to([*self._open, change])

    def remove(self, change_id: str) -> None:
        """A change is undone; without any the mark is gone."""
        undone = [one for one in self._open if one.id == change_id]
        # A host is put back also where its server is down.
        of_host = all(isinstance(one, KnobChange) for one in undone)
        with suppress(*([TargetError] if of_host else [])):
            self._bring_to([one for one in self._open if one.id != change_id])

    def _bring_to(self, changes: Sequence[Change]) -> None:
        self._open = list(changes)
        if self._begun is None:
            return
        again, place, mark = self._begun
        wanted = with_changes(mark, changes)
        # The schema, and with it a comment, may have been made anew since.
        if wanted == self._written and place.database:
            return
        with as_target_error("marking the server as changed by this run"), again() as session:
            place.write(session, wanted)
            if self._written is None:
                self._removal = place.removal(session)
        self._written = wanted


class MarkedJournal(JournalAround):
    """A journal whose open changes are also in the mark on the server."""

    def __init__(self, journal: Journal, mark: ServerMark) -> None:
        super().__init__(journal)
        self._mark = mark

    def record(self, change: Change) -> None:
        """Writes a change to the journal and to the mark; it is in both when this returns."""
        self._journal.record(change)
        self._mark.add(change)

    def undone(self, change_id: str) -> None:
        """Removes a change from the mark, then notes that in the journal: what is killed between
        the two is undone once more by the run's own journal."""
        self._mark.remove(change_id)
        self._journal.undone(change_id)
