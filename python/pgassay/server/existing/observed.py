"""A server that is observed and never changed.

Enters: a connection string. Leaves: read-only sessions with short time limits, what the server is.
Never: refuses a server that others use, writes, resets or locks anything, or needs more rights
than a login: what a role may not see is missing, and callers report it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import LiteralString

from pgassay.server.connection.session import as_target_error, connect, resolve, server_row
from pgassay.server.existing.refusals import Found, old_version
from pgassay.server.existing.requirements import facts_of
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.local import LocalHost
from pgassay.server.hosts.server_process import postmaster_of
from pgassay.server.hosts.ssh import SshHost
from pgassay.server.protocol import Connection, ServerFacts, Setting
from pgassay.server.settings.values import read_settings
from pgassay.server.statements import statement

STATEMENT_LIMIT_S = 5.0
"""As for the samplers: a longer query would load the server."""
_LASTS_S = 60.0
"""The longest that a session may last, also if the server hangs."""


class ObservedServer:
    """A running server, primary or standby, that is observed without a load."""

    kind: LiteralString = "observed"

    def __init__(self, dsn: str, *, ssh: str | None = None, sudo: bool = False) -> None:
        """Connects once; `ssh` is the server's host as ssh knows it. Raises ConnectionRefused."""
        self.parameters = resolve(dsn)
        self._there = None if ssh is None else SshHost(ssh, sudo=sudo)

    def close(self) -> None:
        """Closes the connection to the server's host; it may be called twice."""
        if self._there is not None:
            self._there.close()

    def connect(self, *, lasts_s: float = _LASTS_S) -> Connection:
        """Opens a read-only session that is cut after a limit of time; raises ConnectionRefused."""
        session = connect(self.parameters, statement_limit_s=STATEMENT_LIMIT_S, lasts_s=lasts_s)
        try:
            session.execute(statement("existing/observed_session"), prepare=False)
        except BaseException:
            session.close()
            raise
        return session

    def facts(self) -> tuple[ServerFacts, bool]:
        """Returns what the server is, and whether it is a standby; raises TargetError."""
        with as_target_error("looking at the server"), self.connect() as session:
            row = server_row(session)
            old_version(Found(session, self.parameters, "", makes=False))
            found = facts_of(session)
            if self._there is not None:
                postmaster_of(session, row.backend, self._there)
                found = replace(found, data_directory=row.data_directory, is_local=False)
            return found, row.is_standby

    def settings(self, *, lasts_s: float) -> tuple[Mapping[str, Setting], int]:
        """Returns the settings that are in force now, and when the server last read its
        configuration (ns of its own clock); raises TargetError, also after `lasts_s` seconds."""
        with (
            as_target_error("looking at the settings"),
            self.connect(lasts_s=lasts_s) as session,
        ):
            row = session.execute(statement("existing/configured"), prepare=False).fetchone()
            return read_settings(session), 0 if row is None else row[0]

    def host(self, facts: ServerFacts) -> Host | None:
        """Returns the server's host, where that is this machine or ssh leads to it."""
        return self._there or (LocalHost() if facts.is_local else None)
