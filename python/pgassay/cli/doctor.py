"""`pgassay doctor`: what works on this machine and server, and one line that fixes what does not.

Enters: optional connection options. Leaves: one line per check on stdout; exit 1 if one failed.
Never: changes anything on a server it did not start.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

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
from pgassay.cli.terminal.options import Json, option
from pgassay.errors import ExitCode

if TYPE_CHECKING:
    from pgassay.trials.sampling.not_measured import Check

_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "red")}


def doctor(
    database: Database = None,
    dbname: DatabaseName = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    ssh: Ssh = None,
    sudo: Sudo = False,
    service: Annotated[
        str | None, option("--service", "Check that this systemd unit restarts the server.")
    ] = None,
    cluster: Annotated[
        str | None, option("--cluster", "Check that pg_ctlcluster restarts this VERSION/NAME.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check this machine, and a server if one is named."""
    from pgassay.doctor.host import check_machine

    checks = check_machine()
    server_options = (database, dbname, host, port, user, ssh, service, cluster)
    if any(option is not None for option in server_options):
        from pgassay.doctor.checks import check_server  # start-up time
        from pgassay.doctor.host import check_access, target_table
        from pgassay.server.existing.access import access_of

        dsn = connection_string(database, host, port, user, dbname)
        given = {"dsn": dsn, "ssh": ssh, "service": service, "cluster": cluster, "sudo": sudo}
        access = access_of(target_table(given))
        checks += check_server(dsn, log_elsewhere=ssh is not None)
        if access.reaches_host:
            checks += check_access(dsn, access)
    if as_json:
        found = [check.plain() for check in checks]
        typer.echo(json.dumps({"schema": "pgassay.doctor/1", "checks": found}))
    else:
        for check in checks:
            _print(check)
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(ExitCode.USAGE)


def _print(check: Check) -> None:
    from pgassay.cli.terminal.console import labelled, out, plain

    mark, colour = _MARKS[check.state]
    labelled(f"{mark:<4}  ", f"{check.name}: {check.found}", colour)
    if check.fix:  # one line, to be copied
        out.print(f"      {plain(check.fix)}")
