"""What a run would find on an existing server, as values, and on its host.

Enters: a read-only session, the way to the host. Leaves: `Preview`, `PlannedChange`; why the host
or the service cannot be used as the spec asks, where the data are, how much memory there is. Never:
changes anything there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pgassay.errors import PgassayError, TargetError
from pgassay.server.existing.access import Access
from pgassay.server.existing.signs import Sign
from pgassay.server.hosts.control_groups import memory_of
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import find_server_process
from pgassay.server.protocol import Connection
from pgassay.server.service.restartable import refuse_other_program


@dataclass(frozen=True)
class PlannedChange:
    """One change that a run would make and take back at its end."""

    where: str
    """Such as "server" or "host"."""
    what: str
    takes: str
    """What it takes to be in force: such as "reload"."""


@dataclass(frozen=True)
class Preview:
    """What a run would find and do on an existing server."""

    server: str
    version: str
    signs: tuple[Sign, ...]
    accepted: tuple[str, ...]
    """Names of those among the signs that do not stop the run."""
    refusals: tuple[PgassayError, ...]
    """What else would stop it."""
    changes: tuple[PlannedChange, ...]
    data_directory: str | None = None
    """On the server's host, where that can be looked at."""
    sees_host: bool = True
    """Whether more than SQL reaches the server."""
    setup_s: float | None = None
    """Seconds that its copies are assumed to take, where versions are compared."""
    postmaster: int | None = None
    """The first process of a server on this host, for telling it from other programs; not in JSON,
    as it is another one after each start."""

    @property
    def open_signs(self) -> tuple[Sign, ...]:
        """The signs that stop the run."""
        return tuple(sign for sign in self.signs if sign.name not in self.accepted)

    @property
    def stops(self) -> bool:
        """Whether the run would stop before it changes anything."""
        return bool(self.open_signs or self.refusals)

    def described(self) -> dict[str, Any]:
        """Returns an object for JSON, with the sentences of refusals."""
        found = {**asdict(self), "refusals": [str(one) for one in self.refusals]}
        del found["postmaster"]
        return found


@dataclass(frozen=True)
class OnHost:
    """What one look at the host of an existing server has found."""

    refusals: tuple[TargetError, ...] = ()
    data: Path | None = None
    """The server's data directory there."""
    memory: int | None = None
    """Bytes that the host allows a server; None where this run may not restart it."""


def look_at_host(session: Connection, access: Access, *, restarts: bool = False) -> OnHost:
    """Look at the host; with `restarts` also at the program that a restart would run."""
    if not access.reaches_host:
        return OnHost()
    host = access.host()
    try:
        return _look(session, access, host, restarts=restarts)
    except TargetError as error:
        return OnHost((error,))
    finally:
        host.close()


def _look(session: Connection, access: Access, host: Host, *, restarts: bool) -> OnHost:
    server = find_server_process(session, host)
    if access.control is None:
        return OnHost(data=server.data)
    access.control.refuse_other(host, server)
    if restarts:
        refuse_other_program(session, host, server.account, server.postmaster)
    return OnHost(data=server.data, memory=memory_of(host, session.info.backend_pid))
