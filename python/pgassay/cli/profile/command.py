"""`pgassay profile`: the options of the command.

Enters: the command line. Leaves: a profile. Never: changes the server.
"""

from __future__ import annotations

from typing import Annotated

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User, connection_string
from pgassay.cli.terminal.options import Json, Out, option
from pgassay.samples.address import refuse_url


def profile(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    duration: Annotated[str, option("--duration", "How long, 1s to 10min.")] = "20s",
    hz: Annotated[int, option("--hz", "Samples per second of CPU time.", min=1, max=2000)] = 99,
    off_cpu: Annotated[
        bool, option("--off-cpu", "Then profile for as long where processes wait.")
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Show by function where a server on this host spends CPU time: flame graphs, by perf.

    The server pays while it lasts: a third more CPU time per transaction was measured at 99 Hz.
    """
    refuse_url(out, "profile")
    dsn = connection_string(database, host, port, user, dbname)
    from pgassay.cli.profile.execution import carry_out
    from pgassay.cli.terminal.options import seconds_of
    from pgassay.workflows.profiling import Request

    request = Request(seconds_of("--duration", duration, 1, 600), hz, off_cpu)
    carry_out(dsn, request, out, as_json=as_json)
