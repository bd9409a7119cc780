"""What the integration tests need around real servers.

Enters: what this machine has installed. Leaves: a journal in memory, a server behind passwords,
waiting with a limit. Never: keeps state between tests.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from pgassay.errors import SetupError
from pgassay.target.cluster import Cluster
from pgassay.target.installation import Installation, embedded_installation, installation_at
from pgassay.target.postmaster import StartError
from pgassay.target.protocol import Change, Connection, ConnectionParameters
from pgassay.target.session import connect

DEBIAN = Path("/usr/lib/postgresql/15/bin")
INSTALLATIONS = ("embedded-18", "embedded-16", "debian-15")
SECRET = "s3cret word"
WAIT_LIMIT_S = 20.0


@dataclass
class RecordingJournal:
    """A journal in memory; `interrupt_at` raises KeyboardInterrupt at that entry."""

    changes: list[Change] = field(default_factory=list)
    undone_ids: list[str] = field(default_factory=list)
    interrupt_at: int | None = None

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


def installation_named(name: str) -> Installation:
    kind, _, major = name.partition("-")
    try:
        if kind == "embedded":
            return embedded_installation(int(major))
        return installation_at(DEBIAN)
    except SetupError as error:
        pytest.skip(f"PostgreSQL {name} is not here: {error}")


@dataclass
class LabServer:
    """A server on TCP loopback that asks for SCRAM passwords, and a way in past them."""

    cluster: Cluster
    port: int

    def dsn(self, user: str = "lab", password: str = SECRET, dbname: str = "lab") -> str:
        return make_conninfo(
            host="127.0.0.1", port=self.port, user=user, password=password, dbname=dbname
        )

    def admin(self, dbname: str = "lab") -> Connection:
        parameters = self.cluster.parameters(dbname)
        return connect(ConnectionParameters(parameters.host, self.port, "postgres", dbname))


def started_on_a_free_port(cluster: Cluster, addresses: str = "127.0.0.1") -> int:
    for attempt in range(5):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        # postgresql.auto.conf is the tests' to fill, so the port goes into the base file.
        lines = f"listen_addresses = '{addresses}'\nport = {port}\nfsync = off\n"
        path = cluster.workspace.data / "pgassay.conf"
        cluster.workspace.account.require(["tee", "-a", path], text=lines, limit_s=10)
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
