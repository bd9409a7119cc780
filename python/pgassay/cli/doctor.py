"""`pgassay doctor`: what works here, and the one line that mends what does not.

Enters: optional connection options. Leaves: one line per check on stdout; exit 1 if one failed.
Never: changes anything on a server it did not start.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from pgassay.cli.connection import Database, Host, Port, Ssh, Sudo, User, connection_string
from pgassay.cli.console import out, plain
from pgassay.errors import ExitCode
from pgassay.target.access import access_of
from pgassay.trials.access_checks import check_access, check_data, target_table
from pgassay.trials.check import Check
from pgassay.trials.checks import check_host, check_server

_MARK = {"ok": "[green]ok  [/green]", "note": "[yellow]note[/yellow]", "fail": "[red]FAIL[/red]"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    database: Database = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    ssh: Ssh = None,
    sudo: Sudo = False,
    service: Annotated[
        str | None, typer.Option("--service", help="The server's systemd unit.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Debian's VERSION/NAME of the server.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="The server's data directory, with --bin.")
    ] = None,
    bin: Annotated[  # noqa: A002 (the key users write)
        str | None, typer.Option("--bin", help="The bin directory of its pg_ctl.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check this machine, and a server where one is named."""
    checks = check_host()
    beside = (ssh, service, cluster, data, bin)
    if any(option is not None for option in (database, host, port, user, *beside)):
        dsn = connection_string(database, host, port, user)
        given = {"dsn": dsn, "ssh": ssh, "service": service, "cluster": cluster, "sudo": sudo}
        access = access_of(target_table({**given, "data": data, "bin": bin}))
        way: str | None = dsn
        if access.data is not None:
            seen, way = check_data(dsn, access)
            checks += seen
        if way is not None:
            checks += check_server(way, log_elsewhere=ssh is not None)
            if access.reaches_host:
                checks += check_access(way, access)
    if as_json:
        found = [asdict(check) for check in checks]
        typer.echo(json.dumps({"schema": "pgassay.doctor/1", "checks": found}))
    else:
        for check in checks:
            _print(check)
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(ExitCode.USAGE)


def _print(check: Check) -> None:
    out.print(f"{_MARK[check.state]}  {plain(check.name)}: {plain(check.found)}")
    if check.fix:
        out.print(f"      {plain(check.fix)}")
