"""Bringing a server up that a killed run left down, and restarting one where a setting needs it.

Enters: open changes that name the server's data directory, the way to its host. Leaves: a server
that takes connections, or a RestoreFailed. Never: overwrites a line that the killed run did not
write.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.errors import ConnectionRefused, RestoreFailed
from pgassay.server.change import Change, ServerChange, SettingChange
from pgassay.server.existing.access import Access
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import as_journaled, find_server_process
from pgassay.server.protocol import Connection, ConnectionParameters
from pgassay.server.service.service import Service, put_back_stopped
from pgassay.server.settings.own_lines import found_before
from pgassay.server.settings.pending_changes import refuse_restart
from pgassay.server.settings.statements import reload
from pgassay.server.statements import statement


def bring_up(
    dsn: str,
    changes: Sequence[Change],
    access: Access,
    host: Host,
    refused: ConnectionRefused,
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
        raise RestoreFailed(
            f"{data} of {host.label} cannot be seen ({error.strerror}), and the server does not "
            f"answer ({refused})"
        ) from None
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
            raise RestoreFailed(f"{down}; stopped while restoring, so recover once more") from None
        self.pending = []
        return []
