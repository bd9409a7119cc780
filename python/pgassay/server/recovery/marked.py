"""Putting a server back from the marks that killed runs have left on it, and from nothing else.

Enters: a connection string. Leaves: what would be done; then the server as the runs had found it,
without their marks, or a RestoreFailed with what a person has to do. Never: runs a statement or a
command that a mark holds, gives a mark more rights than those of the role that could write it, or
overwrites what others have changed since.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Self

import psycopg
from psycopg import sql

from pgassay.errors import RestoreFailed, TargetError
from pgassay.server.change import (
    Change,
    KnobChange,
    SchemaChange,
    SettingChange,
    VariantChange,
    visible,
)
from pgassay.server.comparison import Comparison
from pgassay.server.connection.session import Work, as_target_error, connect, one_line
from pgassay.server.existing.access import SQL_ONLY
from pgassay.server.existing.requirements import not_restored
from pgassay.server.existing.snapshot import compared_with_digests
from pgassay.server.hosts.local import HERE
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.recovery.acts import Act, acts_of
from pgassay.server.recovery.restarting import OwedRestart
from pgassay.server.recovery.undo_changes import Place, undo_newest
from pgassay.server.settings.statements import put_in_order
from pgassay.server.undo import run_lock
from pgassay.server.undo.change_record import forget_never_made
from pgassay.server.undo.mark import with_changes
from pgassay.server.undo.marking import FoundMark, found_marks
from pgassay.server.undo.undo_sql import sql_to_paste, undo_text


def acts_of_mark(found: FoundMark) -> list[Act]:
    """What undoing a mark would do."""
    manual = [one for one in found.mark.changes if isinstance(one, VariantChange | KnobChange)]
    done = [one for one in found.mark.changes if one not in manual]
    return [
        Act(f"undo what {found.mark.who} has changed on this server", recorded=False),
        *acts_of(done, ()),
        *(Act(f"print for you to run: {visible(undo_text(one))}", False) for one in manual),
    ]


@dataclass
class MarkedServer:
    """A server of which no run is alive while this is open; a context manager."""

    parameters: ConnectionParameters

    def __post_init__(self) -> None:
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with self._opened:
            self._session = self._opened.enter_context(self._connect())
            run_lock.take(self._session)
            with as_target_error("looking for what killed runs have left"):
                self.marks = found_marks(self._session)
            self._opened = self._opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def undo(self, found: FoundMark) -> tuple[list[str], Comparison]:
        """Undo what one mark says, and remove it: notes on what is left as it is, and how the
        server differs from before."""
        notes: list[str] = []
        left = list(found.mark.changes)
        with as_target_error("looking at the mark"):
            removal = found.place.removal(self._session)
        try:
            self._undo(found, left, notes)
        except (TargetError, psycopg.Error) as error:
            sql_left = [*sql_to_paste(left), *removal]
            why = not_restored(self.parameters, [one_line(error), *notes], sql_left)
            raise RestoreFailed(why) from error
        # This user's own record may have some of it, of a run whose directory is gone.
        forget_never_made(found.mark.id, ())
        if found.mark.role != self._session.info.user:
            return notes, Comparison(unknown=f"that run was connected as {found.mark.role}")
        return notes, compared_with_digests(self.parameters, found.mark.digests)

    def _undo(self, found: FoundMark, left: list[Change], notes: list[str]) -> None:
        settled: set[Place] = set()
        restart = OwedRestart(SQL_ONLY, HERE)
        with self._connect(found) as session:
            while left:
                change = left[-1]
                match change:
                    case VariantChange() | KnobChange():
                        notes.append(f"{change.what}: undo that yourself: {undo_text(change)}")
                    case SchemaChange(database=database) if database != session.info.dbname:
                        with self._connect(found, database) as there:
                            undo_newest(there, left, settled)
                    case _:
                        note = undo_newest(session, left, settled)
                        notes.extend([] if note is None else [note])
                if isinstance(change, SettingChange) and change.scope == "server":
                    restart.add(change)
                left.pop()
            put_in_order(session, found.mark.order)
            notes += restart.carry_out(session, self.parameters)
            found.place.write(session, with_changes(found.mark, ()))

    def _connect(self, found: FoundMark | None = None, database: str = "") -> Connection:
        """A session with no more rights than those of the role that can have written the mark."""
        # Start-up options win over what the owner of a database has set for it.
        options = f"{self.parameters.options} -c search_path=pg_catalog".strip()
        database = database or self.parameters.dbname
        parameters = replace(self.parameters, dbname=database, options=options)
        session = connect(parameters, work=Work.OWN_CHANGES, statement_limit_s=0)
        if found is not None and not found.of_superuser:
            try:
                with as_target_error(f"{visible(found.author)} could write this mark"):
                    session.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(found.author)))
            except BaseException:
                session.close()
                raise
        return session
