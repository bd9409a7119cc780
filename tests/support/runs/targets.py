"""Every kind of target as one subject of the contract suite.

Enters: what this machine has installed. Leaves: a `Subject`: a target not yet open, and how to see
that its server is as it was found. Never: knows what the contract asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pgassay.server.existing.access import SQL_ONLY, Access
from pgassay.server.existing.target import ExistingTarget
from pgassay.server.owned.origin import NewCluster
from pgassay.server.owned.target import OwnedTarget
from pgassay.server.protocol import Target
from pgassay.server.service.control import DebianCluster, RestartCommand, SystemdUnit
from support.hosts.sshd import HOST
from support.servers.debian import NAME, UNIT, VERSION, DebianServer, stand_in_systemctl
from support.servers.lab import RecordingJournal, installation_named

CLUSTER = DebianCluster(VERSION, NAME)
COMMAND = f"pg_ctlcluster {VERSION} {NAME} restart"
"""A command line as a user writes it."""
ACCESS = {
    "sql": SQL_ONLY,
    "pg_ctlcluster": Access(control=CLUSTER, allow_restart=True),
    "systemd": Access(control=SystemdUnit(UNIT), allow_restart=True),
    "command": Access(control=RestartCommand(COMMAND), allow_restart=True),
    "ssh": Access(ssh=HOST, control=CLUSTER, allow_restart=True),
    "ssh, no service": Access(ssh=HOST),
}
OWNED = ("embedded-18", "embedded-16", "debian-15")
KINDS = (
    "embedded-18",
    *(pytest.param(kind, marks=pytest.mark.heavy) for kind in OWNED[1:]),
    *ACCESS,
)


@dataclass
class Subject:
    """A target under the contract."""

    target: Target
    journal: RecordingJournal
    restarts: bool
    """Whether it can bring a setting into force that takes a restart."""
    as_found: Callable[[], object]
    """What must be the same before `open` and after `close`."""


def subject(kind: str, journal: RecordingJournal, request: pytest.FixtureRequest) -> Subject:
    """A target of this kind."""
    if kind in OWNED:
        base: Path = request.getfixturevalue("own_base")
        owned = OwnedTarget(NewCluster(installation_named(kind)), journal)
        return Subject(owned, journal, True, lambda: sorted(base.glob("run-*")))
    server: DebianServer = request.getfixturevalue("debian")
    target = existing(kind, server, journal, request)
    return Subject(target, journal, ACCESS[kind].control is not None, lambda: state_of(server))


def existing(
    kind: str, server: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> ExistingTarget:
    """A target on that server, with this kind of access."""
    access, dsn = ACCESS[kind], server.dsn()
    if access.ssh is not None:
        request.getfixturevalue("ssh_config")
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    patch.setenv("PG_CLUSTER_CONF_ROOT", str(server.conf))
    if kind == "systemd":
        folder = stand_in_systemctl(request.getfixturevalue("tmp_path"), server)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return ExistingTarget(
        dsn, journal, allow_changes=True, accept=["commits", "sessions"], access=access
    )


def state_of(server: DebianServer) -> object:
    """A server's file of ALTER SYSTEM, what is in force, and our schema."""
    with server.admin() as session:
        rows = session.execute(
            "SELECT name, setting, source, pending_restart FROM pg_settings"
            " WHERE name IN ('shared_buffers', 'work_mem', 'max_connections') ORDER BY 1"
        ).fetchall()
        schema = session.execute("SELECT to_regnamespace('pgassay')").fetchone()
    return server.file.read_text(), rows, schema
