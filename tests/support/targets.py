"""Every kind of target as one subject of the contract suite.

Enters: what this machine has installed. Leaves: a `Subject`: a target not yet open, and how to see
that its server is as it was found. Never: knows what the contract asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pgassay.spec.reset import Caches, ResetLevel, ResetRule
from pgassay.target.access import SQL_ONLY, Access
from pgassay.target.existing import ExistingTarget
from pgassay.target.existing_copied import CopiedTarget
from pgassay.target.local import LocalTarget
from pgassay.target.protocol import Target
from pgassay.target.service_control import DebianCluster, PgCtl, SystemdUnit
from support.servers import RecordingJournal, installation_named
from support.services import BIN, NAME, UNIT, VERSION, DebianServer, stand_in_systemctl
from support.sshd import HOST
from support.stopped_clusters import StoppedCluster

BY_DATA = "data, running"
CLUSTER = DebianCluster(VERSION, NAME)
ACCESS = {
    "sql": SQL_ONLY,
    "pg_ctlcluster": Access(control=CLUSTER, allow_restart=True),
    "systemd": Access(control=SystemdUnit(UNIT), allow_restart=True),
    "pg_ctl": Access(control=PgCtl(BIN), allow_restart=True),
    BY_DATA: Access(control=PgCtl(BIN), allow_restart=True),
    "ssh": Access(ssh=HOST, control=CLUSTER, allow_restart=True),
    "ssh, no service": Access(ssh=HOST),
}
OWNED = ("embedded-18", "embedded-16", "debian-15")
COPIES = ", on copies"
STOPPED = {"stopped": None, "stopped, over ssh": HOST}
KINDS = (
    *OWNED, *ACCESS, f"pg_ctlcluster{COPIES}", f"ssh{COPIES}", *STOPPED, f"stopped{COPIES}",
)  # fmt: skip


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
        base: Path = request.getfixturevalue("empty_base")
        target = LocalTarget(installation_named(kind), journal)
        return Subject(target, journal, True, lambda: sorted(base.glob("run-*")))
    on_copies = kind.endswith(COPIES)
    if kind.startswith("stopped"):
        cluster: StoppedCluster = request.getfixturevalue("at_rest")
        stopped = at_rest(kind.removesuffix(COPIES), cluster, journal, request)
        return Subject(
            copied(stopped) if on_copies else stopped,
            journal,
            True,
            lambda: (cluster.is_up(), cluster.as_it_lies()),
        )
    server: DebianServer = request.getfixturevalue("debian")
    access = kind.removesuffix(COPIES)
    there = existing(access, server, journal, request)
    return Subject(
        copied(there) if on_copies else there,
        journal,
        ACCESS[access].control is not None,
        lambda: state_of(server),
    )


def existing(
    kind: str, server: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> ExistingTarget:
    """A target on that server, with this kind of access."""
    access, dsn = ACCESS[kind], server.dsn()
    if kind == BY_DATA:
        access, dsn = replace(access, data=server.data), "user=lab dbname=lab"
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


def at_rest(
    kind: str, cluster: StoppedCluster, journal: RecordingJournal, request: pytest.FixtureRequest
) -> ExistingTarget:
    """A target on a cluster that is stopped, by its data directory."""
    ssh = STOPPED[kind]
    dsn = "user=lab dbname=lab"
    if ssh is not None:
        request.getfixturevalue("ssh_config")
        dsn += f" host={cluster.sockets}"
    access = Access(ssh=ssh, control=PgCtl(BIN), allow_restart=True, data=cluster.data)
    return ExistingTarget(
        dsn, journal, allow_changes=True, accept=["commits", "sessions"], access=access
    )


def copied(target: ExistingTarget, caches: Caches = Caches.AS_IS) -> CopiedTarget:
    """The same, with trials on copies of the data directory."""
    return CopiedTarget(
        target._dsn,
        target._journal._journal,
        allow_changes=True,
        accept=target._accept,
        access=target._access,
        rule=ResetRule(ResetLevel.SNAPSHOT, caches),
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
