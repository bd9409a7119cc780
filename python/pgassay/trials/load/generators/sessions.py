"""The sessions of a load from several machines, as the run's own server sees them.

Enters: how this machine reaches the server, the sessions that generators opened. Leaves: a refusal
where they are another server's; a server without sessions of a load that lost a machine. Never:
ends sessions of others, or of pgassay's own samplers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

import psycopg

from pgassay.errors import SetupError, TargetError
from pgassay.server.connection.session import connect
from pgassay.server.protocol import LOAD_NAME, ConnectionParameters
from pgassay.server.statements import statement


def refuse_other_server(
    connection: ConnectionParameters, names: Sequence[str], opened: Sequence[Collection[int]]
) -> None:
    """Refuses a generator whose libpq finds another server than the one that the run measures.

    Raises SetupError.
    """
    with connect(connection) as session:
        found = session.execute(statement("trials/load_sessions"), (LOAD_NAME,)).fetchall()
    here = {pid for (pid,) in found}
    for name, pids in zip(names, opened, strict=True):
        if not here.issuperset(pids):
            raise SetupError(
                f"the load generator on {name} reached another server than this machine, whose is"
                f" {connection.label}: give target.dsn a host that all machines know by that name"
            )


def end_sessions(connection: ConnectionParameters) -> None:
    """Ends the sessions of the load in its database and of its role; a server that does not let us
    keeps them, and the guard for sessions of others sees them at work."""
    with suppress(TargetError, psycopg.Error), connect(connection) as session:
        session.execute(statement("trials/end_load"), (LOAD_NAME,))
