"""`pgassay observe`: the options of the command.

Enters: the command line. Leaves: an observation. Never: changes the server.
"""

from __future__ import annotations

from typing import Annotated

from pgassay.cli.connection import Database, DatabaseName, Host, Port, Ssh, Sudo, User
from pgassay.cli.terminal.options import Json, Out, Plain, Quiet, option


def observe(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    ssh: Ssh = None,
    sudo: Sudo = False,
    duration: Annotated[
        str | None, option("--duration", "How long, such as 90s or 1h [until Ctrl-C].")
    ] = None,
    out: Out = None,
    every: Annotated[
        str, option("--every", "Sample the sessions' waits this often, 20ms to 60s.")
    ] = "100ms",
    segment: Annotated[
        str, option("--segment", "Write to disk this often; a kill loses one segment.")
    ] = "10min",
    keep: Annotated[str, option("--keep", "Drop samples that are older than this.")] = "24h",
    max_disk: Annotated[
        str, option("--max-disk", "Disk space for samples; the oldest are dropped first.")
    ] = "1GB",
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Record what a running server does, without changing it."""
    given = locals()
    from pgassay.cli.observe.carrying_out import carry_out

    carry_out(given)
