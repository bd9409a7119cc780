"""Runs against a server that is not ours, by every way in which it may be restarted.

Enters: a Debian cluster, a kind of access. Leaves: a spec of such a run, and a check that the
server is up with its settings and that no change record is left. Never: starts a server itself.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import ConnectionRefused
from support.hosts.sshd import HOST
from support.runs.broken import WatchedRun, postmaster_below, spec_file
from support.runs.targets import COMMAND
from support.servers.debian import DebianServer
from support.servers.untouched import left_untouched

SQL_ONLY = "sql"
WAYS = {
    SQL_ONLY: "",
    "pg_ctlcluster": "cluster = '15/lab'",
    "command": f"restart_command = '{COMMAND}'",
    "ssh": f"cluster = '15/lab'\nssh = '{HOST}'",
}
_TARGET = """[target]
dsn = "{dsn}"
allow_changes = true
accept = ["commits", "sessions"]
{more}
"""


def target_of(kind: str, server: DebianServer) -> str:
    """The tables of a spec."""
    lines = [WAYS[kind]]
    if lines[0]:
        lines.append("allow_restart = true")
    return _TARGET.format(dsn=server.dsn(), more="\n".join(lines))


@contextmanager
def as_found(
    kind: str, server: DebianServer, request: pytest.FixtureRequest, **changes: object
) -> Iterator[Path]:
    """A spec; afterwards the server is as it was, and forgotten by who ran it."""
    if "ssh" in kind:
        request.getfixturevalue("ssh_config")
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    folder: Path = request.getfixturevalue("tmp_path")
    with left_untouched(server, patch, folder):
        yield spec_file(folder, **{"target": target_of(kind, server), **changes})
    servers = folder / "state" / "pgassay" / "servers"
    assert [*servers.glob("*")] == [], "what was changed is forgotten"


def kill_postmaster(server: DebianServer) -> int:
    """By SIGKILL; which process it was."""
    postmaster = postmaster_below(server.data.parent)
    os.kill(postmaster, signal.SIGKILL)
    return postmaster


def crash_for_want_of_room(server: DebianServer) -> None:
    """A new segment of WAL finds no room on a full disk: the server gives up all its sessions."""
    write = "SELECT pg_logical_emit_message(true, 'filler', repeat('x', 1000000))"
    with suppress(ConnectionRefused), closing(server.admin()) as session:
        while not session.closed:
            with suppress(psycopg.Error):
                session.execute(write)


@contextmanager
def stopped(tool: WatchedRun) -> Iterator[None]:
    """The tool is stopped meanwhile, so that it notices the change only afterwards."""
    os.kill(tool.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(tool.process.pid, signal.SIGCONT)
