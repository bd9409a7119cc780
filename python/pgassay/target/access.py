"""What is allowed and known beside SQL of an existing server: its host, its service.

Enters: the keys of `[target]`. Leaves: the `Host` it runs on and the `Control` of its service.
Never: reaches the host; that happens when the target is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString

from pgassay.errors import SettingRejected
from pgassay.spec.access import HostAccess, SettingsAt, cluster_of
from pgassay.spec.host_knobs import TAKEN_AT_START
from pgassay.target.changeable import NO_RESTART, NOT_ALLOWED, refuse_unchangeable
from pgassay.target.host import Host
from pgassay.target.local_host import HERE
from pgassay.target.protocol import Connection
from pgassay.target.service_control import Control, DebianCluster, PgCtl, SystemdUnit, by_hand
from pgassay.target.setting_scope import SERVER, Scope
from pgassay.target.ssh_host import SshHost


@dataclass(frozen=True)
class Access:
    """How the host of an existing server is reached, and how its service is restarted."""

    ssh: str | None = None
    sudo: bool = False
    control: Control | None = None
    allow_restart: bool = False
    settings_at: SettingsAt = "server"
    data: Path | None = None
    """The data directory that names the server."""

    def host(self) -> Host:
        """The server's host, which nothing has been asked yet."""
        return HERE if self.ssh is None else SshHost(self.ssh, sudo=self.sudo)

    def scope(self, session: Connection) -> Scope:
        """Where settings are written, for sessions such as this one."""
        match self.settings_at:
            case "database":
                return Scope("database", session.info.dbname)
            case "role":
                return Scope("role", session.info.user)
        return SERVER

    def refuse_unchangeable(self, session: Connection, settings: Mapping[str, str]) -> None:
        """Refuse settings that could not be brought about here."""
        refuse_unchangeable(
            session, settings, restarts=self.why_no_restart, scope=self.scope(session)
        )

    @property
    def kind(self) -> LiteralString:
        """What a run says of such a target."""
        if self.ssh is not None:
            return "existing, host over ssh"
        return "existing" if self.control is None else "existing, local service"

    @property
    def why_no_restart(self) -> str:
        """Empty where the server may be restarted."""
        if self.control is None:
            return NO_RESTART
        return "" if self.allow_restart else NOT_ALLOWED

    @property
    def restarted_by(self) -> str:
        """What a person would type to restart the server; empty where that is not known."""
        return "" if self.control is None else by_hand(self.control, self.ssh or "")

    @property
    def reaches_host(self) -> bool:
        """Whether the spec says more of the server than how SQL gets there."""
        return self.ssh is not None or self.control is not None


SQL_ONLY = Access()


def refuse_late_knobs(knobs: Iterable[str], access: Access) -> None:
    """Refuse a knob that a server takes up as it starts, where nobody may restart it."""
    late = [name for name in knobs if name.startswith(TAKEN_AT_START)]
    if late and access.why_no_restart:
        raise SettingRejected(
            late[0], f"{late[0]}: a server takes it up as it starts; {access.why_no_restart}"
        )


def access_of(table: HostAccess, path_of: Callable[[str], Path] = Path) -> Access:
    """What a `[target]` table says; `path_of` completes a path of this machine."""
    control: Control | None = None
    bin_directory = getattr(table, "bin", None)
    if table.service is not None:
        control = SystemdUnit(table.service)
    elif table.cluster is not None:
        control = DebianCluster(*cluster_of(table.cluster))
    elif bin_directory is not None and (
        table.data is not None or getattr(table, "dsn", None) is not None
    ):
        # On another host the path is that host's.
        there = Path(bin_directory) if table.ssh is not None else path_of(bin_directory)
        control = PgCtl(there)
    data = None if table.data is None else Path(table.data)
    return Access(table.ssh, table.sudo, control, table.allow_restart, table.settings_at, data)
