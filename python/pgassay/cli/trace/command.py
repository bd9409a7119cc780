"""`pgassay trace`: the options of the command.

Enters: the command line. Leaves: a trace. Never: changes the server.
"""

from __future__ import annotations

from typing import Annotated

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User
from pgassay.cli.terminal.options import Json, Out, option


def trace(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    duration: Annotated[str | None, option("--duration", "How long, at most 1h [60s].")] = None,
    out: Out = None,
    what: Annotated[
        str, option("--what", "Some of lwlocks, checkpoints, io, and wal, which costs most.")
    ] = "lwlocks,checkpoints,io",
    measure_cost: Annotated[
        int | None,
        option(
            "--measure-cost",
            "Before the trace, compare throughput with and without, in so many pairs of windows.",
            min=2,
            max=100,
        ),
    ] = None,
    window: Annotated[str, option("--window", "How long each such window is.")] = "5s",
    as_json: Json = False,
) -> None:
    """Trace lock waits, checkpoints, I/O and WAL in a running server."""
    given = locals()
    from pgassay.cli.trace.carrying_out import carry_out

    carry_out(given)
