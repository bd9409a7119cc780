"""Settings of an existing server: changed through ALTER SYSTEM and put back.

Enters: connection parameters, a journal, wanted values. Leaves: the values in force, read back on
a fresh session; after `restore`, postgresql.auto.conf as it was found. Never: changes a setting
before its undo is on disk, never one that needs a restart.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from pgassay.errors import SettingRejected, TargetError
from pgassay.spec.redaction import is_secret, redacted
from pgassay.target.protocol import (
    Change,
    Connection,
    ConnectionParameters,
    Context,
    Journal,
    Setting,
)
from pgassay.target.session import connect, identity, one_line, target_failure
from pgassay.target.settings import (
    FROM_FILE,
    LIST_OF_NAMES,
    OVERRIDING,
    check_value,
    confirm,
    find,
    read_settings,
    same_value,
    split_names,
)
from pgassay.target.statements import statement

RELOAD = "SELECT pg_reload_conf()"
RELOAD_LIMIT_S = 15.0
POLL_S = 0.02


@dataclass
class Touched:
    """A setting we change: what it was, and the journal entries still open."""

    name: str
    written: str | None
    """The line postgresql.auto.conf had, if any."""
    in_force: Setting
    undo: sql.Composed
    changes: list[Change] = field(default_factory=list)
    ours: str | None = None
    """What we have seen the server accept, and not taken back."""


class SystemSettings:
    """The settings of one server that this run has changed."""

    def __init__(self, parameters: ConnectionParameters, journal: Journal) -> None:
        self._parameters = parameters
        self._journal = journal
        self._touched: dict[str, Touched] = {}

    def apply(self, wanted: Mapping[str, str]) -> list[str]:
        """Make exactly `wanted` differ from how the server was found; notes on odd read-backs."""
        before = {name: t.ours for name, t in self._touched.items() if t.ours is not None}
        try:
            return self._move_to(wanted)
        except TargetError:
            # What cannot be put back now stays on the list of `restore`.
            with contextlib.suppress(TargetError, psycopg.Error):
                self._move_to(before)
            raise

    @property
    def left(self) -> list[str]:
        """The SQL that is still to run before the server is as it was."""
        undo = [t.undo.as_string(None) for t in reversed(self._touched.values()) if t.changes]
        return [*undo, RELOAD] if undo else []

    def restore(self) -> None:
        """Put everything back, newest first, and see that it is; one failure stops no other."""
        touched = [t for t in reversed(self._touched.values()) if t.changes]
        if not touched:
            return
        problems: list[str] = []
        with connect(self._parameters) as session:
            for one in touched:
                try:
                    execute(session, one.undo, one.name)
                except TargetError as error:
                    problems.append(str(error))
            reload(session)
        with connect(self._parameters) as session:
            found = read_settings(session)
            for one in touched:
                try:
                    self._see_restored(session, one, found)
                except TargetError as error:
                    problems.append(str(error))
        if problems:
            raise TargetError("; ".join(problems))

    def _move_to(self, wanted: Mapping[str, str]) -> list[str]:
        with connect(self._parameters) as session:
            given_back = [
                touched
                for touched in reversed(self._touched.values())
                if touched.changes and touched.name not in wanted
            ]
            for touched in given_back:
                touched.ours = None
                execute(session, touched.undo, touched.name)
            set_now = [name for name, value in wanted.items() if self._set(session, name, value)]
            if given_back or set_now:
                reload(session)
        with connect(self._parameters) as session:
            found = read_settings(session)
            for touched in given_back:
                self._see_restored(session, touched, found)
        notes = [confirm(value, find(found, name), name) for name, value in wanted.items()]
        return [note for note in notes if note is not None]

    def _set(self, session: Connection, name: str, value: str) -> bool:
        touched = self._touched.get(name)
        if touched is not None and touched.ours == value:
            return False
        if touched is None or not touched.changes:
            # As found just now: between two of our changes somebody may have made one of theirs.
            touched = as_found(session, name, find(read_settings(session), name))
            self._touched.pop(name, None)
            self._touched[name] = touched
        command = assignment(name, value)
        change = Change(
            id=uuid.uuid4().hex,
            what=f"setting {name} of {self._parameters.label}",
            do=command.as_string(session),
            undo=touched.undo.as_string(session),
            server=identity(session),
            setting=name,
            value=value,
            found=touched.written,
        )
        # Known to us before it is in the journal, in the journal before it is made: whatever
        # interrupts, `restore` has it on its list.
        touched.ours = None
        touched.changes.append(change)
        self._journal.record(change)
        execute(session, command, name)
        touched.ours = value
        return True

    def _see_restored(
        self, session: Connection, touched: Touched, found: Mapping[str, Setting]
    ) -> None:
        now = find(found, touched.name)
        value_is_back = now is not None and same_value(touched.in_force.value, now)
        # Somebody may have edited postgresql.conf meanwhile; then our line being gone must do.
        line_is_back = written_value(session, touched.name) == (True, touched.written)
        if not value_is_back and not line_is_back:
            shown = now.value if now else "nothing"
            raise TargetError(
                f"{touched.name} was {touched.in_force.value} and is {shown} after "
                f"{touched.undo.as_string(session)}"
            )
        while touched.changes:
            self._journal.undone(touched.changes[-1].id)
            touched.changes.pop()


def refuse_unchangeable(session: Connection, settings: Mapping[str, str]) -> None:
    """Refuse what ALTER SYSTEM and a reload could not bring about. Changes nothing."""
    known = read_settings(session)
    newer = session.info.server_version >= 150000
    question = statement("may_change_15" if newer else "may_change_13")
    for name, value in settings.items():
        setting = check_value(known, name, value)
        as_found(session, name, setting)
        row = session.execute(question, (name,)).fetchone()
        may_alter, may_reload = row or (False, False)
        user = session.info.user
        if not may_alter:
            grant = f"GRANT ALTER SYSTEM ON PARAMETER {name} TO {user}, or " if newer else ""
            raise SettingRejected(
                name, f"{name}: {user} may not ALTER SYSTEM; {grant}connect as a superuser"
            )
        if not may_reload:
            raise SettingRejected(
                name,
                f"{name}: {user} may not reload the configuration; "
                f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {user}",
            )


def refuse_unreachable(name: str, setting: Setting) -> None:
    """Refuse a setting that a reload does not bring to new sessions."""
    if setting.context is Context.POSTMASTER:
        raise SettingRejected(
            name,
            f"{name}: needs a restart, and pgassay does not restart a server it did not start; "
            'set it by hand, or give target.bin = "…/bin" for a server of its own',
        )
    if setting.source in OVERRIDING:
        raise SettingRejected(
            name,
            f"{name}: sessions get it from {OVERRIDING[setting.source]}, which wins over "
            "ALTER SYSTEM; remove that first",
        )


def as_found(session: Connection, name: str, setting: Setting | None) -> Touched:
    """A setting before we change it, with what undoes a change."""
    if setting is None:
        raise SettingRejected(
            name, f"{name}: unknown to this server; load its extension first, or check the name"
        )
    refuse_unreachable(name, setting)
    visible, written = written_value(session, name)
    if not visible and setting.source in FROM_FILE:
        raise SettingRejected(
            name,
            f"{name}: its value comes from a file {session.info.user} may not see, so it could "
            f"not be put back; GRANT pg_read_all_settings TO {session.info.user}",
        )
    if written is not None and (is_secret(name) or redacted(written) != written):
        raise SettingRejected(
            name,
            f"{name}: its value in postgresql.auto.conf holds a password, which the journal would "
            "have to keep; take it out there (passfile= instead), or leave this setting alone",
        )
    undo = reset(name) if written is None else assignment(name, written)
    return Touched(name, written, setting, undo)


def written_value(session: Connection, name: str) -> tuple[bool, str | None]:
    """Whether this user may know what postgresql.auto.conf says of a setting, and that."""
    try:
        row = session.execute(statement("auto_conf_value"), (name,)).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        row = session.execute(statement("auto_conf_in_force"), (name,)).fetchone()
        return (row[0], row[1]) if row else (False, None)
    return True, None if row is None else row[0]


def assignment(name: str, value: str) -> sql.Composed:
    """ALTER SYSTEM SET; a list of names is given name by name, as PostgreSQL quotes each."""
    values = split_names(value) if name.lower() in LIST_OF_NAMES else [value]
    return sql.SQL("ALTER SYSTEM SET {} = {}").format(
        sql.Identifier(*name.split(".")),
        sql.SQL(", ").join(sql.Literal(part) for part in values or [""]),
    )


def reset(name: str) -> sql.Composed:
    return sql.SQL("ALTER SYSTEM RESET {}").format(sql.Identifier(*name.split(".")))


def execute(session: Connection, command: sql.Composed, name: str) -> None:
    try:
        session.execute(command, prepare=False)
    except psycopg.OperationalError as error:
        raise target_failure(error, command.as_string(session)) from error
    except psycopg.Error as error:
        raise SettingRejected(
            name, f"{command.as_string(session)}: {one_line(error)}", sqlstate=error.sqlstate
        ) from error


def reload(session: Connection) -> None:
    """Reload the configuration and wait until it has happened.

    The postmaster reads the files first and tells its sessions afterwards: once ours has reloaded,
    every new session starts with the new values.
    """
    try:
        before = _load_time(session)
        session.execute(RELOAD)
        end = time.monotonic() + RELOAD_LIMIT_S
        while time.monotonic() < end:
            if _load_time(session) != before:
                return
            time.sleep(POLL_S)
        try:
            row = session.execute(statement("file_errors")).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            row = None
    except psycopg.Error as error:
        raise target_failure(error, RELOAD) from error
    reason = f": {row[0]} line {row[1]}: {row[2]} {row[3]}" if row else "; see the server's log"
    raise TargetError(f"the server did not reload its files in {RELOAD_LIMIT_S:g} s{reason}")


def _load_time(session: Connection) -> object:
    row = session.execute("SELECT pg_conf_load_time()").fetchone()
    return row[0] if row else None
