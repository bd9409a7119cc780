"""`pgassay trace`: the options of the command.

Enters: the command line. Leaves: a trace. Never: changes the server.
"""

from __future__ import annotations

from typing import Annotated

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User, connection_string
from pgassay.cli.terminal.options import Json, Out, option
from pgassay.samples.address import refuse_url


def trace(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    duration: Annotated[str | None, option("--duration", "How long, at most 1h [60s].")] = None,
    out: Out = None,
    what: Annotated[
        str,
        option(
            "--what", "Some of lwlocks, checkpoints, io, wal and inserts; the last two cost most."
        ),
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
    refuse_url(out, "trace")
    dsn = connection_string(database, host, port, user, dbname)
    from pgassay.cli.terminal.options import seconds_of
    from pgassay.cli.trace.execution import carry_out, parts_of
    from pgassay.workflows.tracing import DEFAULT_S, MOST_S, TraceRequest

    request = TraceRequest(
        parts=parts_of(what),
        duration_s=DEFAULT_S if duration is None else seconds_of("--duration", duration, 1, MOST_S),
        cost_pairs=measure_cost or 0,
        window_s=seconds_of("--window", window, 1, 600),
    )
    carry_out(dsn, request, out, has_duration=duration is not None, as_json=as_json)
