"""`pgassay profile`: the options of the command.

Enters: the command line. Leaves: a profile. Never: changes the server.
"""

from __future__ import annotations

from typing import Annotated

from pgassay.cli.connection import Database, DatabaseName, Host, Port, User
from pgassay.cli.terminal.options import Json, Out, option


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
    given = locals()
    from pgassay.cli.profile.carrying_out import carry_out

    carry_out(given)
