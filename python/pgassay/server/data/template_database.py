"""The experiment's database on an existing server, made anew from a template before every trial.

Enters: a session in the user's database, a journal. Leaves: a frozen copy of that database, and a
second one, made from it as often as asked; nothing of either after `drop`.
Never: changes the user's own database, or drops one whose name it did not draw itself.

Both have new names, so the user's database is read once and never changed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql

from pgassay.refusals.refusal import TargetRefused
from pgassay.server.change import DatabaseChange
from pgassay.server.connection.session import identity, one_line, target_failure
from pgassay.server.data.schema import MARK
from pgassay.server.protocol import Connection, Journal
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import assignment, drop_database, undo_text

CLONES_FROM = 180000
"""server_version_num from which file_copy_method is there."""
STRATEGY_FROM = 150000


class TemplateDatabase:
    """The template database of one run, and the trial's database that is copied from it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._changes: list[DatabaseChange] = []
        self._settings: list[tuple[str | None, str, str]] = []
        self._clones = True
        token = secrets.token_hex(4)
        self.template = f"pgassay_{token}_template"
        self.name = f"pgassay_{token}"

    @property
    def left(self) -> list[str]:
        """The SQL that would restore the server now."""
        return [undo_text(change) for change in reversed(self._changes)]

    def make(self, session: Connection) -> None:
        """Copy the session's database into the template, where the workload is then built.

        The session must be the only one there: PostgreSQL copies no database that is in use.
        """
        self.drop(session)
        refuse_uncopied(session)
        self._settings = list(session.execute(statement("data/database_settings")).fetchall())
        self._note(session, self.template)
        with _unlimited(session):
            self._copy(session, session.info.dbname, self.template)
        self._configure(session, self.template)

    def freeze(self, session: Connection) -> None:
        """Forbids connections to the template; the session is in another database."""
        command = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false")
        _execute(session, command.format(sql.Identifier(self.template)))

    def remake(self, session: Connection) -> str:
        """Makes the trial's database anew from the template; returns how the files were copied."""
        if len(self._changes) == 1:
            self._note(session, self.name)
        with _unlimited(session):
            _execute(session, drop_database(self.name))
            how = self._copy(session, self.template, self.name)
        self._configure(session, self.name)
        return how

    def drop(self, session: Connection) -> None:
        """Drops the databases that this run has made."""
        if not self._changes:
            return
        with _unlimited(session):
            while self._changes:
                _execute(session, drop_database(self._changes[-1].name))
                self._journal.undone(self._changes.pop().id)

    def _note(self, session: Connection, name: str) -> None:
        change = DatabaseChange(name=name, server=identity(session))
        self._changes.append(change)
        self._journal.record(change)

    def _copy(self, session: Connection, source: str, name: str) -> str:
        version = session.info.server_version
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
            sql.Identifier(name), sql.Identifier(source)
        )
        if version >= STRATEGY_FROM:
            # Files, not WAL: a copy through WAL would be the trial's checkpoint distance.
            command += sql.SQL(" STRATEGY = FILE_COPY")
        if version >= CLONES_FROM and self._clones:
            try:
                session.execute("SET file_copy_method = clone")
                session.execute(command)
            except psycopg.Error:
                self._clones = False  # the file system or the build cannot; files are copied
            else:
                return "CREATE DATABASE, file_copy_method = clone"
            finally:
                session.execute("RESET file_copy_method")
        _execute(session, command)
        return "CREATE DATABASE, files copied"

    def _configure(self, session: Connection, name: str) -> None:
        """Mark it as pgassay's, and give it the settings that ALTER DATABASE gave the user's."""
        database = sql.Identifier(name)
        comment = sql.SQL("COMMENT ON DATABASE {} IS {}")
        _execute(session, comment.format(database, sql.Literal(MARK)))
        for role, setting, value in self._settings:
            alter = sql.SQL("ALTER DATABASE {}").format(database)
            if role is not None:
                alter = sql.SQL("ALTER ROLE {} IN DATABASE {}").format(
                    sql.Identifier(role), database
                )
            _execute(session, assignment(setting, value, alter))


_KEY = "reset.level = 'template'"


def refuse_uncopied(session: Connection) -> int:
    """Returns the size of the database in bytes; raises TargetError where it cannot be copied."""
    name, user = session.info.dbname, session.info.user
    may_create, may_copy, size = _row(session, "data/may_copy_database")
    if not may_create or not may_copy:
        code = "may-not-copy-database" if may_create else "may-make-no-database"
        raise TargetRefused(code, _KEY, user=user, name=name)
    others, who = _row(session, "data/sessions_in_database")
    if others:
        raise TargetRefused("database-in-use", _KEY, name=name, who=who)
    return int(size)


def _row(session: Connection, name: str) -> Sequence[int]:
    row = session.execute(statement(name)).fetchone()
    if row is None:
        raise TargetRefused("no-row", doing=f"looking at database {session.info.dbname}")
    return row


def _execute(session: Connection, command: sql.Composed) -> None:
    text = command.as_string(session)
    try:
        session.execute(text.encode(), prepare=False)
    except psycopg.errors.ObjectInUse as error:
        why = f"{one_line(error)} {error.diag.message_detail or ''}".strip()
        raise TargetRefused("request-failed", doing=text, why=why) from error
    except psycopg.Error as error:
        raise target_failure(error, text) from error


@contextmanager
def _unlimited(session: Connection) -> Iterator[None]:
    """Copying takes as long as it takes."""
    row = session.execute("SELECT current_setting('statement_timeout')").fetchone()
    session.execute("SET statement_timeout = 0")
    try:
        yield
    finally:
        if not session.closed:
            session.execute("SELECT set_config('statement_timeout', %s, false)", row)
