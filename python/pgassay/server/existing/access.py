"""What a spec allows beside SQL on an existing server: its host, its restarts, its settings' scope.

Enters: the keys of `[target]`. Leaves: an `Access`: the `Host` of the server, the `Control` that
restarts it. Never: reaches the host; that happens when the target is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from pgassay.refusals.refusal import SettingRefused
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import HERE
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.protocol import Connection
from pgassay.server.service.control import Control, DebianCluster, RestartCommand, SystemdUnit
from pgassay.server.settings.changeable import NO_RESTART, NOT_ALLOWED, refuse_unchangeable
from pgassay.server.settings.scope import SERVER, Scope
from pgassay.spec.server.access import HostAccess, SettingsAt, cluster_of
from pgassay.spec.server.host_knobs import is_read_at_start


@dataclass(frozen=True)
class Access:
    """How the host of an existing server is reached, and how its service is restarted."""

    ssh: str | None = None
    sudo: bool = False
    control: Control | None = None
    allow_restart: bool = False
    settings_at: SettingsAt = "server"

    def host(self) -> Host:
        """Returns the server's host, to which no connection is made yet."""
        return HERE if self.ssh is None else SshHost(self.ssh, sudo=self.sudo)

    def scope(self, session: Connection) -> Scope:
        """Where settings are written: for the server, or this session's database or role."""
        match self.settings_at:
            case "database":
                return Scope("database", session.info.dbname)
            case "role":
                return Scope("role", session.info.user)
        return SERVER

    def refuse_unchangeable(self, session: Connection, settings: Mapping[str, str]) -> None:
        """Raises SettingRejected for settings that cannot be changed on this server."""
        refuse_unchangeable(
            session, settings, restarts=self.why_no_restart, scope=self.scope(session)
        )

    @property
    def kind(self) -> LiteralString:
        """The name of this kind of target in environment.json."""
        if self.ssh is not None:
            return "existing, host over ssh"
        return "existing" if self.control is None else "existing, local service"

    @property
    def why_no_restart(self) -> str:
        """Why the server may not be restarted; empty where it may."""
        if self.control is None:
            return NO_RESTART
        return "" if self.allow_restart else NOT_ALLOWED

    @property
    def reaches_host(self) -> bool:
        """Whether the spec names a host or a way to restart, so that the host must be reached."""
        return self.ssh is not None or self.control is not None


SQL_ONLY = Access()


def refuse_late_knobs(knobs: Iterable[str], access: Access) -> None:
    """Refuse a knob that acts only on a server started later, where this run may not restart it."""
    late = [name for name in knobs if is_read_at_start(name)]
    if late and access.why_no_restart:
        has_way = access.control is not None
        raise SettingRefused(
            late[0], "knob-without-leave-to-restart" if has_way else "knob-without-way-to-restart"
        )


def access_of(table: HostAccess) -> Access:
    """Returns the way to the server's host and service that a `[target]` table names."""
    control: Control | None = None
    if table.service is not None:
        control = SystemdUnit(table.service)
    elif table.cluster is not None:
        control = DebianCluster(*cluster_of(table.cluster))
    elif table.restart_command is not None:
        control = RestartCommand(table.restart_command)
    return Access(table.ssh, table.sudo, control, table.allow_restart, table.settings_at)
