"""How an existing server's host is reached, and how its service is restarted.

Enters: keys of `[target]`. Leaves: checked values, or a ValueError naming key and fix.
Never: reaches the host, or restarts anything.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from pgassay.spec.passwords import is_reached_by
from pgassay.spec.values import Table

# None may begin with a dash: they are words of a command line.
_UNIT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:\\-]*")
_CLUSTER = re.compile(r"(\d{1,2}(?:\.\d)?)/([A-Za-z0-9_][A-Za-z0-9_.-]*)")
_SSH_HOST = re.compile(r"(?:ssh://)?[A-Za-z0-9_][A-Za-z0-9_.@:%\[\]-]*")
_CONTROLS = ("service", "cluster", "bin")
# One word of pg_ctl's command line, which a shell reads once more.
_DIRECTORY = re.compile(r"(?:/[A-Za-z0-9_.@:%+=,~-]+)+/?")

SettingsAt = Literal["server", "database", "role"]
Word = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class HostAccess(Table):
    """What a spec lets us do beside SQL on an existing server's host."""

    data: Word | None = Field(
        None,
        description="existing server: its data directory; with bin, dsn may be left out, and one"
        " that is stopped is started for the run",
    )
    service: Word | None = Field(
        None, description="existing server: its systemd unit, such as postgresql@15-main"
    )
    cluster: Word | None = Field(
        None, description="existing server: Debian's VERSION/NAME (pg_lsclusters), such as 15/main"
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

    allow_data_copy: bool = Field(
        False,
        description="existing server: its trials may run on copies of its data directory, beside"
        " it; what anybody writes there meanwhile is lost",
    )

    @model_validator(mode="before")
    @classmethod
    def _words(cls, table: Any) -> Any:
        """Before all else, so that a name never reaches a command line unchecked."""
        if isinstance(table, dict):
            _check(table, "service", _UNIT, "the name of a systemd unit, as systemctl knows it")
            _check(table, "cluster", _CLUSTER, "VERSION/NAME, as pg_lsclusters shows it: 15/main")
            _check(
                table,
                "data",
                _DIRECTORY,
                "the whole path of a data directory (SHOW data_directory), in ASCII without blanks"
                " and quotes; give such a directory a link with a plain name",
            )
            _check(table, "ssh", _SSH_HOST, "a host as ssh knows it, such as db1 or postgres@db1")
        return table

    @model_validator(mode="after")
    def _belongs_together(self) -> HostAccess:
        dsn = getattr(self, "dsn", None)
        is_existing = dsn is not None or self.data is not None
        if self.data is not None:
            self._is_named_by_data(dsn)
        given = [name for name in _CONTROLS if getattr(self, name, None) is not None]
        for name in ("service", "cluster", "ssh"):
            if getattr(self, name) is not None and not is_existing:
                raise ValueError(f"{name} belongs to an existing server; give dsn too")
        if is_existing and len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other; keep one")
        if is_existing and not str(getattr(self, "bin", None) or "/").startswith("/"):
            beside = "dsn" if self.data is None else "data"
            raise ValueError(f"bin beside {beside} is a path of the server's host; begin it with /")
        if self.sudo and self.ssh is None:
            raise ValueError("sudo belongs to ssh; on this host run pgassay itself as root")
        if self.allow_data_copy and not self.allow_restart:
            raise ValueError("allow_data_copy takes restarts; allow_restart = true too")
        if self.settings_at != "server" and not is_existing:
            raise ValueError("settings_at belongs to an existing server; leave it out")
        if self.settings_at != "server" and self.allow_restart:
            raise ValueError(
                f"a {self.settings_at} has no settings that take a restart; leave out"
                ' allow_restart, or settings_at = "server"'
            )
        if self.allow_restart and not is_existing:
            raise ValueError("allow_restart belongs to an existing server; leave it out")
        if self.allow_restart and not given:
            raise ValueError(
                "allow_restart needs to know how: name the server's service, its cluster, or the"
                " bin of its pg_ctl"
            )
        # With data it also lets a stopped server be started and stopped again.
        serves_changes = self.data is None or self.allow_data_copy
        if self.allow_restart and serves_changes and not getattr(self, "allow_changes", False):
            raise ValueError("allow_restart serves changes of settings; allow_changes = true too")
        return self

    def _is_named_by_data(self, dsn: str | None) -> None:
        if getattr(self, "bin", None) is None:
            raise ValueError(
                "data takes bin, the bin directory of that server's pg_ctl; where its service or"
                " cluster is to restart it, name it by dsn instead"
            )
        if getattr(self, "version", None) is not None:
            raise ValueError("data names an existing server; leave out version")
        if self.ssh is not None and not is_reached_by(dsn or ""):
            raise ValueError(
                "data beside ssh lies on that host, and SQL does not go through ssh; say in dsn how"
                " it gets there, such as 'host=db1'"
            )


def cluster_of(text: str) -> tuple[str, str]:
    """Version and name of Debian's `15/main`."""
    match = _CLUSTER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not VERSION/NAME")
    return match[1], match[2]


def _check(table: dict[str, Any], key: str, pattern: re.Pattern[str], what: str) -> None:
    value = table.get(key)
    if isinstance(value, str) and not pattern.fullmatch(value):
        raise ValueError(f"{key}: {value!r} is not {what}")
