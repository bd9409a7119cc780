"""`pgassay observe`: the options of the command.

Enters: the command line. Leaves: an observation. Never: changes the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pgassay.cli.connection import (
    Database,
    DatabaseName,
    Host,
    Port,
    Ssh,
    Sudo,
    User,
    connection_string,
)
from pgassay.cli.terminal.options import Json, Plain, Quiet, option
from pgassay.samples.address import refuse_url


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
    out: Annotated[
        Path | None,
        option("--out", "Directory to create, or of an observation that goes on [pgassay-runs/…]."),
    ] = None,
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
    metrics: Annotated[
        str | None,
        option(
            "--metrics",
            "Serve the figures of the moment to Prometheus at [ADDRESS:]PORT, on loopback without"
            " an address [off].",
        ),
    ] = None,
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Record what a running server does, without changing it."""
    refuse_url(out, "observe")
    dsn = connection_string(database, host, port, user, dbname)
    from pgassay.cli.observe.execution import bytes_of, carry_out
    from pgassay.cli.terminal.options import seconds_of
    from pgassay.doctor.host import target_table
    from pgassay.workflows.observation import Request

    if ssh is not None or sudo:
        target_table({"dsn": dsn, "ssh": ssh, "sudo": sudo})
    request = Request(
        duration_s=None if duration is None else seconds_of("--duration", duration, 1, 1e8),
        every_s=seconds_of("--every", every, 0.02, 60),
        segment_s=seconds_of("--segment", segment, 1, 86400),
        keep_s=seconds_of("--keep", keep, 10, 1e8),
        max_disk_bytes=bytes_of("--max-disk", max_disk),
        ssh=ssh,
        sudo=sudo,
    )
    carry_out(dsn, request, out, metrics, live=not no_live, quiet=quiet, as_json=as_json)
