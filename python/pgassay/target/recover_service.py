"""What recovery needs of a service: a server that is down brought up, a restart where one is owed.

Enters: open changes that say where their server lies, the way to its host. Leaves: a server that
takes connections, or a RestoreFailed. Never: overwrites a line that the dead run did not write.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgassay.errors import ConnectionRefused, RestoreFailed
from pgassay.target.access import Access
from pgassay.target.host import Host
from pgassay.target.located import as_left, locate, told_of_environment
from pgassay.target.own_lines import found_before
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.service import Service, put_back_stopped
from pgassay.target.setting_statements import reload
from pgassay.target.statements import statement
from pgassay.target.waiting import refuse_restart


def bring_up(
    dsn: str,
    changes: Sequence[Change],
    access: Access,
    host: Host,
    refused: ConnectionRefused,
) -> str:
    """Wait for a server that a dead run's restart is bringing up; start one that it has left down,
    without the settings of that run, and with a sentence where something of it is missing."""
    lying = [change for change in changes if change.data]
    if not lying or access.control is None:
        raise refused
    last = lying[-1]
    data = Path(last.data)
    try:
        account = host.facts(data).account
    except OSError as error:
        raise RestoreFailed(
            f"{data} of {host.label} cannot be seen ({error.strerror}), and the server does not "
            f"answer ({refused})"
        ) from None
    service = Service(dsn, host, access.control, as_left(data, account, last))
    if service.comes_up():
        return ""
    put_back_stopped(service, found_before(lying, service.auto_conf()))
    return told_of_environment(last)


class Restart:
    """Settings put back in the file, of which some may be in force until a restart."""

    def __init__(self, access: Access, host: Host) -> None:
        self._access = access
        self._host = host
        self.waiting: list[Change] = []
        self.by_hand = ""
        """What a person would type, once all but the restart is done."""

    def wait_for(self, change: Change) -> None:
        """A change whose undoing is done once nothing of it is in force."""
        self.waiting.append(change)

    def carry_out(self, session: Connection, reached: ConnectionParameters) -> list[str]:
        """Restart where a setting of ours is in force otherwise; a note where that may not be.

        What is still in force afterwards is left waiting. OthersWait where a restart would bring
        somebody's changes into force as well.
        """
        if not self.waiting:
            return []
        reload(session)
        pending = {row[0] for row in session.execute(statement("pending_restart")).fetchall()}
        self.waiting = [change for change in self.waiting if change.setting.lower() in pending]
        ours = {change.setting.lower() for change in self.waiting}
        if not ours:
            return []
        control = self._access.control
        if control is None or not self._access.allow_restart:
            return [f"{', '.join(sorted(ours))}: put back, and in force after the next restart"]
        server = locate(session, self._host)
        control.refuse_other(self._host, server)
        service = Service(reached, self._host, control, server)
        self.by_hand = service.by_hand
        refuse_restart(session, dict.fromkeys(ours))
        service.refuse_other_program(session)
        session.close()
        service.restart()
        self.waiting = []
        return []
