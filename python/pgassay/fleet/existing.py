"""The servers of a fleet that exist already, as the machine that begins the run sees them.

Enters: connection strings. Leaves: each server with a name and its identity, and the spec of a
member that drives it alone; a line where two strings lead to one server, or a run was killed on
one. Never: changes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from pgassay.cluster.nodes import distinct
from pgassay.errors import ConnectionRefused, TargetError
from pgassay.refusals.refusal import TargetRefused
from pgassay.server.connection.session import (
    as_target_error,
    connect,
    identity,
    resolve,
    server_row,
)
from pgassay.server.undo.killed_run import explained, refuse_killed_run
from pgassay.spec.experiment import Spec


@dataclass(frozen=True)
class FoundServer:
    """A server that this machine reaches."""

    dsn: str
    name: str
    """By which trials are stored, and reports name it."""
    identity: str
    """Its system identifier; its address where this user may not know that."""
    address: str
    data: str | None
    """Its data directory, where this user may know it."""

    def refuse_other(self, identity: str) -> None:
        """Raises TargetError where a node was led to another server by the same connection
        string."""
        if identity != self.identity and identity.isdigit() and self.identity.isdigit():
            raise TargetRefused("another-server-on-a-node", dsn=self.dsn)

    def refuse_killed_run(self, own: Path | None) -> None:
        """Raises TargetError where a run has changed the server and not put it back; `own` is the
        one that goes on, if one does."""
        refuse_killed_run(self.identity, self.data, self.address, own)


def found_servers(
    dsns: Sequence[str],
    unreachable: Callable[[TargetError], None] | None = None,
    own: Path | None = None,
) -> list[FoundServer]:
    """Looks at all servers of a fleet; calls `unreachable` for each that cannot be reached, or
    raises the error without it.

    This machine must reach them all, for it is the one that puts them back when a member is lost.
    """
    found: list[FoundServer] = []
    for dsn, name in zip(dsns, names_of(dsns), strict=True):
        try:
            one = _found(dsn, name, own)
        except TargetError as error:
            if unreachable is None:
                raise
            unreachable(error)
        else:
            _refuse_same(one, found)
            found.append(one)
    return found


def names_of(dsns: Sequence[str]) -> list[str]:
    """Makes a short name for each server: its service, else its host and port."""
    return distinct([_name(dsn) for dsn in dsns])


def spec_on(spec: Spec, server: FoundServer) -> Spec:
    """Returns the spec of a run on this server alone."""
    target = spec.file.target.model_copy(update={"dsn": server.dsn, "fleet": None})
    return replace(spec, file=spec.file.model_copy(update={"target": target}))


def _name(dsn: str) -> str:
    given = {name: str(value) for name, value in conninfo_to_dict(dsn).items() if value is not None}
    if "host" not in given and "hostaddr" not in given:
        return given.get("service") or dsn
    host = given.get("host") or given["hostaddr"]
    return f"{host}:{given['port']}" if "port" in given else host


def _found(dsn: str, name: str, own: Path | None) -> FoundServer:
    try:
        parameters = resolve(dsn)
    except ConnectionRefused as refused:
        raise explained(refused, dsn, own) from None
    with as_target_error(f"looking at {name}"), connect(parameters) as session:
        known = identity(session) or parameters.label
        data = server_row(session).data_directory
    return FoundServer(dsn, name, known, parameters.address, data)


def _refuse_same(one: FoundServer, others: Sequence[FoundServer]) -> None:
    for other in others:
        if other.identity == one.identity:
            raise TargetRefused("one-server-twice", one=other.dsn, other=one.dsn)
