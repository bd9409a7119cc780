"""Real servers for the integration tests.

Enters: the installations of this machine. Leaves: servers with passwords, standbys, a journal in
memory. Never: keeps state between tests.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from pgassay.errors import SpecError
from pgassay.server.change import Change
from pgassay.server.hosts.account import Account
from pgassay.server.owned.cluster import Cluster
from pgassay.server.owned.installation import Installation, embedded_installation, installation_at
from pgassay.server.owned.postmaster import StartError
from pgassay.server.owned.readable_copy import runnable_by
from pgassay.server.owned.workspace import make_workspace, new_name
from pgassay.server.protocol import Connection, ConnectionParameters
from support.packages import needs
from support.servers.npm import npm_installation
from support.servers.sessions import connect

DEBIAN = Path("/usr/lib/postgresql/15/bin")
SECRET = "s3cret word"
WAIT_LIMIT_S = 60.0


@dataclass
class RecordingJournal:
    """A journal in memory; `interrupt_at` raises KeyboardInterrupt at that entry."""

    changes: list[Change] = field(default_factory=list)
    undone_ids: list[str] = field(default_factory=list)
    interrupt_at: int | None = None
    place: str = ""
    run: str = ""
    machine: str = ""

    def record(self, change: Change) -> None:
        self.changes.append(change)
        if self.interrupt_at == len(self.changes):
            raise KeyboardInterrupt

    def undone(self, change_id: str) -> None:
        self.undone_ids.append(change_id)

    @property
    def open(self) -> list[Change]:
        return [change for change in self.changes if change.id not in self.undone_ids]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WAIT_LIMIT_S
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"not within {WAIT_LIMIT_S:g} s: {what}")
        time.sleep(0.02)


def scalar(session: Connection, query: str) -> Any:
    """The first cell of the first row."""
    row = session.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def installation_named(name: str) -> Installation:
    """`embedded-18`, `debian-15`, or `npm-13`; only of the wheels' and Debian's a test is skipped
    where one is missing."""
    kind, _, major = name.partition("-")
    if kind == "npm":
        return npm_installation(int(major))
    if kind == "debian":
        needs("postgresql-15")
        return installation_at(DEBIAN)
    try:
        return embedded_installation(int(major))
    except SpecError as error:
        pytest.skip(f"PostgreSQL {name} is not here: {error}")


@dataclass
class LabServer:
    """A server on TCP loopback that asks for SCRAM passwords; its socket asks for none."""

    cluster: Cluster
    port: int

    def dsn(self, user: str = "lab", password: str = SECRET, dbname: str = "lab") -> str:
        return make_conninfo(
            host="127.0.0.1", port=self.port, user=user, password=password, dbname=dbname
        )

    def place(self, user: str = "lab", dbname: str = "lab") -> str:
        """Returns a connection string without a password, as experiment files have it."""
        return f"host=127.0.0.1 port={self.port} user={user} dbname={dbname}"

    def target(self, *lines: str, user: str = "lab") -> str:
        """Returns an experiment file's table [target] for this server, and what follows it."""
        return "\n".join(("[target]", f"dsn = '{self.place(user)}'", *lines)) + "\n"

    def variables(self) -> dict[str, str]:
        """The same connection as environment variables of libpq."""
        return {
            "PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "lab",
            "PGDATABASE": "lab", "PGPASSWORD": SECRET,
        }  # fmt: skip

    def admin(self, dbname: str = "lab") -> Connection:
        parameters = self.cluster.parameters(dbname)
        return connect(ConnectionParameters(parameters.host, self.port, "postgres", dbname))


@contextmanager
def running_lab_server(
    installation: Installation,
    account: Account,
    base: Path,
    lines: str = "",
    *,
    address: str = "",
) -> Iterator[LabServer]:
    """A lab server; `lines` go into its configuration. At `address` of this machine it listens
    too, to that network."""
    installation = runnable_by(installation, account)
    cluster = Cluster(installation, make_workspace(account, base, new_name()))
    try:
        cluster.create()
        rules = (
            "local all all trust\nlocal replication all trust\n"
            "host all all 127.0.0.1/32 scram-sha-256\n"
        )
        if address:
            rules += f"host all all {address}/24 scram-sha-256\n"
        account.require(["tee", cluster.workspace.data / "pg_hba.conf"], text=rules, limit_s=10)
        configure(cluster, lines)
        addresses = ",".join(filter(None, ("127.0.0.1", address)))
        server = LabServer(cluster, started_on_a_free_port(cluster, addresses))
        with server.admin("postgres") as session:
            make_lab_objects(session)
        yield server
    finally:
        cluster.stop(gently=False)
        cluster.workspace.remove()


def make_lab_objects(session: Connection) -> None:
    """The roles and databases of a lab server."""
    session.execute("SET password_encryption = 'scram-sha-256'")
    session.execute("CREATE ROLE lab LOGIN SUPERUSER PASSWORD 's3cret word'")
    session.execute("CREATE ROLE plain LOGIN PASSWORD 's3cret word'")
    session.execute("CREATE DATABASE lab OWNER plain")
    session.execute("CREATE DATABASE other")


@contextmanager
def running_standby(
    server: LabServer, account: Account, base: Path, lines: str = ""
) -> Iterator[LabServer]:
    """A standby that streams from a lab server; `lines` go into its configuration."""
    installation = server.cluster.installation
    # Those of npm have no pg_basebackup; that of 18 reads older servers too.
    programs = installation
    if not installation.program("pg_basebackup").is_file():
        programs = runnable_by(embedded_installation(), account)
    standby = Cluster(installation, make_workspace(account, base, new_name()))
    try:
        copy: list[str | Path] = [programs.program("pg_basebackup"), "-cfast"]
        copy += ["-h", server.cluster.workspace.socket_directory, "-p", str(server.port)]
        copy += ["-U", "postgres", "-D", standby.workspace.data]
        account.require(copy, limit_s=60, libraries=programs.libraries)
        account.require(["touch", standby.workspace.data / "standby.signal"], limit_s=10)
        directory = standby.workspace.socket_directory
        # Not by pg_basebackup -R, which names options that an older server does not know.
        primary = make_conninfo(
            host=str(server.cluster.workspace.socket_directory), port=server.port, user="postgres"
        )
        settings = f"unix_socket_directories = '{directory}'\nprimary_conninfo = '{primary}'\n"
        configure(standby, settings + lines)
        port = started_on_a_free_port(standby)
        wait_until(lambda: _replicas(server, "state = 'streaming'") == 1, "the standby streams")
        yield LabServer(standby, port)
    finally:
        standby.stop(gently=False)
        standby.workspace.remove()
    wait_until(lambda: _replicas(server, "true") == 0, "the standby has disconnected")


def _replicas(server: LabServer, which: str) -> int:
    with server.admin() as session:
        query = f"SELECT count(*) FROM pg_stat_replication WHERE {which}"
        row = session.execute(query.encode()).fetchone()
    return int(row[0]) if row else 0


def configure(cluster: Cluster, lines: str) -> None:
    """Add lines to the configuration for the next start; tests may write postgresql.auto.conf."""
    path = cluster.workspace.data / "pgassay.conf"
    cluster.workspace.account.require(["tee", "-a", path], text=lines, limit_s=10)


def started_on_a_free_port(cluster: Cluster, addresses: str = "127.0.0.1") -> int:
    for attempt in range(5):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        configure(cluster, f"listen_addresses = '{addresses}'\nport = {port}\nfsync = off\n")
        try:
            cluster.start()
        except StartError:
            if attempt == 4:
                raise
        else:
            return port
    raise AssertionError("unreachable")


def is_root() -> bool:
    return os.geteuid() == 0
