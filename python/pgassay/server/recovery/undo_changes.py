"""Undoes on an existing server what a killed run has changed, change by change, and restarts it.

Enters: the changes that its journal holds open, a session, the way to the server's host. Leaves:
the newest undone, or a sentence where others have changed the same thing since; a server that takes
connections where the run left it down or a setting needs a restart, or a RestoreFailed. Never:
overwrites what is not ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.errors import ConnectionRefused
from pgassay.refusals.refusal import RestoreRefused, TargetRefused
from pgassay.server.change import (
    Change,
    DatabaseChange,
    SchemaChange,
    ServerChange,
    SettingChange,
    VariantChange,
)
from pgassay.server.data.schema import is_mark, refuse_foreign
from pgassay.server.data.schema_variants import take_back
from pgassay.server.existing.access import Access
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import as_journaled, find_server_process
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.service.service import Service, put_back_stopped
from pgassay.server.settings.own_lines import Author, found_before, line_of
from pgassay.server.settings.pending_changes import refuse_restart
from pgassay.server.settings.scope import Scope
from pgassay.server.settings.statements import reload
from pgassay.server.statements import statement
from pgassay.server.undo.undo_sql import DROP_SCHEMA, drop_database, undo_of_setting

Place = tuple[str, str, str]
"""A setting and where it is written."""


def undo_newest(session: Connection, left: Sequence[Change], settled: set[Place]) -> str | None:
    """Undo the last of the changes left; a sentence where it is left as it is.

    `settled` are the settings that have been undone already. A change may have been recorded and
    never made, or taken back to an older one of ours: each of those values is ours.
    """
    match left[-1]:
        case SettingChange() as change:
            return _undo_setting(session, change, left, settled)
        case SchemaChange():
            if refuse_foreign(session):
                session.execute(DROP_SCHEMA)
        case DatabaseChange(name=name):
            _refuse_foreign_database(session, name)
            session.execute(drop_database(name), prepare=False)
        case VariantChange() as change:
            take_back(session, change)
    return None  # after a restart the server is up, which is all there is to undo


def _undo_setting(
    session: Connection, change: SettingChange, left: Sequence[Change], settled: set[Place]
) -> str | None:
    place = (change.name, change.scope, change.of)
    if place in settled:
        return None  # a later change of ours to the same setting has been undone already
    settled.add(place)
    ours = [
        one.value
        for one in left
        if isinstance(one, SettingChange) and (one.name, one.scope, one.of) == place
    ]
    scope, undo = Scope(change.scope, change.of), undo_of_setting(change)
    line = line_of(session, scope, change.name, change.found, ours)
    if line.author is Author.AS_FOUND:
        return None
    if line.author is Author.OTHERS:
        return line.described(change.name, undo.as_string(session))
    session.execute(undo, prepare=False)
    if scope.reloads:
        reload(session)
    return None


def _refuse_foreign_database(session: Connection, name: str) -> None:
    """A run draws the name, makes the database, and marks it then: without any mark it is a run's
    that was killed between."""
    row = session.execute(statement("data/database_comment"), (name,)).fetchone()
    if row is not None and row[0] is not None and not is_mark(row[0]):
        raise TargetRefused("comment-not-ours", database=name)


def bring_up(
    dsn: str, changes: Sequence[Change], access: Access, host: Host, refused: ConnectionRefused
) -> None:
    """Wait for a server that is starting; start one that is down, without the run's settings."""
    restartable = [one for one in changes if isinstance(one, ServerChange) and one.data]
    if not restartable or access.control is None:
        raise refused
    last = restartable[-1]
    data = Path(last.data)
    try:
        account = host.facts(data).account
    except OSError as error:
        values = {"data": data, "host": host.label, "why": error.strerror, "refused": refused}
        raise RestoreRefused("data-hidden-of-a-server-down", **values) from None
    server = as_journaled(data, account, last)
    service = Service(dsn, host, access.control, server, system=last.server)
    if not service.comes_up():
        lines = [one for one in restartable if isinstance(one, SettingChange)]
        put_back_stopped(service, found_before(lines, service.auto_conf()))


class OwedRestart:
    """Settings that are back in the file, and perhaps in force until a restart."""

    def __init__(self, access: Access, host: Host) -> None:
        self._access = access
        self._host = host
        self.pending: list[SettingChange] = []
        self.command = ""
        """What a person would type, once all but the restart is done."""

    def add(self, change: SettingChange) -> None:
        """Adds a change that is undone once nothing of it is in force."""
        self.pending.append(change)

    def carry_out(self, session: Connection, reached: ConnectionParameters) -> list[str]:
        """Restart where a setting of ours is still in force; a note where that is not allowed.

        PendingChanges where a restart would bring changes of others into force as well.
        """
        if not self.pending:
            return []
        reload(session)
        waiting = {
            row[0] for row in session.execute(statement("settings/pending_restart")).fetchall()
        }
        self.pending = [change for change in self.pending if change.name.lower() in waiting]
        ours = {change.name.lower() for change in self.pending}
        if not ours:
            return []
        control = self._access.control
        if control is None or not self._access.allow_restart:
            return [f"{', '.join(sorted(ours))}: back in the file; in force after the next restart"]
        server = find_server_process(session, self._host)
        control.refuse_other(self._host, server)
        service = Service(reached, self._host, control, server)
        self.command = service.command
        refuse_restart(session, dict.fromkeys(ours))
        service.refuse_other_program(session)
        session.close()
        try:
            service.restart()
        except KeyboardInterrupt:
            down = service.left_down()
            if not down:
                raise
            raise RestoreRefused("recovery-stopped-with-the-server-down", down=down) from None
        self.pending = []
        return []
