"""The program that a server would be started from, beside the one that runs.

Enters: a session, the server's process and account on its host, how it is restarted. Leaves: an
OthersWait where a restart would be an upgrade. Never: starts a server.

A package that is upgraded puts new programs under the paths of the old ones, which go on running.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.target.host import Host, is_there
from pgassay.target.protocol import Connection
from pgassay.target.server_build import running_program
from pgassay.target.service_control import Control, PgCtl
from pgassay.target.waiting import OthersWait

_NAME = "postgres (PostgreSQL) "


def refuse_other_program(
    session: Connection, host: Host, account: str, postmaster: int, control: Control
) -> None:
    """OthersWait where the next start would run another version; what cannot be seen is passed
    over."""
    path = _next_program(host, account, postmaster, control)
    if path is None:
        return
    runs = session.info.parameter_status("server_version") or ""
    if not is_there(host, path):
        raise OthersWait(
            f"a restart would fail: {path} of {host.label}, from which the server was started, is"
            " there no more; install it again, or restart the server by hand first"
        )
    done = host.run([path, "--version"], user=account)
    said = done.stdout.strip()
    if done.returncode or not said.startswith(_NAME):
        return
    starts = said.removeprefix(_NAME)
    if starts != runs:
        raise OthersWait(
            f"a restart would be an upgrade: the server is {runs}, and {path} of {host.label} is"
            f" {starts} by now; restart it first"
        )


def _next_program(host: Host, account: str, postmaster: int, control: Control) -> Path | None:
    if isinstance(control, PgCtl):
        return control.bin_directory / "postgres"
    return running_program(host, account, postmaster)
