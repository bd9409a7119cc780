"""`pgassay observe`: the options of the command.

Enters: the command line. Leaves: an observation. Never: changes the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.connection import Database, DatabaseName, Host, Port, Ssh, Sudo, User


def observe(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    ssh: Ssh = None,
    sudo: Sudo = False,
    duration: Annotated[
        str | None, typer.Option("--duration", help="How long, such as 90s or 1h [until Ctrl-C].")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Directory to create [pgassay-runs/…].")
    ] = None,
    every: Annotated[
        str, typer.Option("--every", help="Sample the sessions' waits this often, 20ms to 60s.")
    ] = "100ms",
    segment: Annotated[
        str, typer.Option("--segment", help="Write to disk this often; a kill loses one segment.")
    ] = "10min",
    keep: Annotated[
        str, typer.Option("--keep", help="Drop samples that are older than this.")
    ] = "24h",
    max_disk: Annotated[
        str,
        typer.Option("--max-disk", help="Disk space for samples; the oldest are dropped first."),
    ] = "1GB",
    no_live: Annotated[
        bool, typer.Option("--plain", help="Print lines instead of a live view.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Record what a running server does; it is only read."""
    given = locals()
    from pgassay.cli.observe.carrying_out import carry_out

    carry_out(given)
