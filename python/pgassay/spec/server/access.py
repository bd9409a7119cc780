"""How an existing server's host is reached, and how its service is restarted.

Enters: keys of `[target]`. Leaves: checked values, or a ValueError naming key and fix.
Never: reaches the host, or restarts anything.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from pgassay.refusals.refusal import UnfitValue
from pgassay.spec.reading.values import Table

# None may begin with a dash: they are words of a command line.
_UNIT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:\\-]*")
_CLUSTER = re.compile(r"(\d{1,2}(?:\.\d)?)/([A-Za-z0-9_][A-Za-z0-9_.-]*)")
_SSH_HOST = re.compile(r"(?:ssh://)?[A-Za-z0-9_][A-Za-z0-9_.@:%\[\]-]*")
_CONTROLS = ("service", "cluster", "restart_command")

SettingsAt = Literal["server", "database", "role"]
Word = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class HostAccess(Table):
    """What `[target]` allows on the host of an existing server, beside SQL."""

    service: Word | None = Field(
        None, description="existing server: its systemd unit, such as postgresql@15-main"
    )
    cluster: Word | None = Field(
        None, description="existing server: Debian's VERSION/NAME (pg_lsclusters), such as 15/main"
    )
    restart_command: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = (
        Field(
            None,
            description="existing server: a shell command on its host that restarts it, and starts"
            " it where it is down",
        )
    )
    ssh: Word | None = Field(
        None, description="existing server on another host: that host as ssh knows it"
    )
    sudo: bool = Field(False, description="on the ssh host, commands run by sudo -n")
    allow_restart: bool = Field(
        False, description="existing server: may be restarted, which ends everybody's sessions"
    )

    settings_at: SettingsAt = Field(
        "server",
        description="existing server: settings are changed by ALTER SYSTEM, or by ALTER DATABASE or"
        " ALTER ROLE of the connection's own",
    )

    @model_validator(mode="before")
    @classmethod
    def _words(cls, table: Any) -> Any:
        """Before all else, so that a name never reaches a command line unchecked."""
        if isinstance(table, dict):
            if "data" in table:
                raise UnfitValue("data-is-no-key")
            _check(table, "service", _UNIT, "not-a-unit")
            _check(table, "cluster", _CLUSTER, "not-a-cluster")
            _check(table, "ssh", _SSH_HOST, "not-a-host")
            command = table.get("restart_command")
            if isinstance(command, str) and not command.isprintable():
                raise UnfitValue("not-a-shell-command")
        return table

    @model_validator(mode="after")
    def _belongs_together(self) -> HostAccess:
        fleet = getattr(self, "fleet", None)
        is_existing = getattr(self, "dsn", None) is not None
        given = [name for name in _CONTROLS if getattr(self, name) is not None]
        for name in (*_CONTROLS, "ssh", "allow_restart"):
            if getattr(self, name) and fleet is not None:
                raise UnfitValue("access-beside-fleet", key=name)
            if getattr(self, name) and not is_existing:
                raise UnfitValue("access-without-server", key=name)
        if len(given) > 1:
            raise UnfitValue("exclude-each-other", given=" and ".join(given))
        if self.sudo and self.ssh is None:
            raise UnfitValue("sudo-without-ssh")
        is_existing = is_existing or bool(fleet is not None and fleet.servers)
        if self.settings_at != "server" and not is_existing:
            raise UnfitValue("settings-at-without-server")
        if self.settings_at != "server" and self.allow_restart:
            raise UnfitValue("restart-for-no-setting", place=self.settings_at)
        if self.allow_restart and not given:
            raise UnfitValue("no-way-to-restart")
        if self.allow_restart and not getattr(self, "allow_changes", False):
            raise UnfitValue("restart-without-permission")
        return self


def cluster_of(text: str) -> tuple[str, str]:
    """Returns the version and the name of a Debian cluster such as `15/main`."""
    match = _CLUSTER.fullmatch(text)
    if match is None:
        raise UnfitValue("not-a-cluster-name", text=text)
    return match[1], match[2]


def _check(table: dict[str, Any], key: str, pattern: re.Pattern[str], code: str) -> None:
    value = table.get(key)
    if isinstance(value, str) and not pattern.fullmatch(value):
        raise UnfitValue(code, value=value)
