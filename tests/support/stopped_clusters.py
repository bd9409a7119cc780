"""A cluster of PostgreSQL 15 that is stopped, and what must be true of it when a run is over.

Enters: a directory that the server's account can pass through. Leaves: the cluster, started and
stopped by hand where a test wants it. Never: leaves a server running.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from pgassay.target.account import Account
from pgassay.target.data_place import MARK
from pgassay.target.found_stopped import RUN_LOG
from pgassay.target.protocol import Connection, ConnectionParameters
from pgassay.target.service_control import START_LOG
from pgassay.target.session import connect
from support.broken_runs import postmaster_below, servers_below
from support.servers import wait_until
from support.services import BIN

MAY = "allow_restart = true"
ON_COPIES = ("allow_data_copy = true", "[reset]", "level = 'snapshot'")
RESTARTS = 'shared_buffers = ["128MB", "64MB"]'
CONFIGURATION = """
listen_addresses = ''
unix_socket_directories = '{sockets}, {data}'
port = {port}
fsync = off
"""


@dataclass(frozen=True)
class StoppedCluster:
    """One made by initdb, with a database `lab` and a table of somebody's."""

    place: Path
    account: Account
    port: int

    @property
    def data(self) -> Path:
        return self.place / "data"

    @property
    def sockets(self) -> Path:
        return self.place / "run"

    def target(self, *more: str, dsn: str = "user=lab dbname=lab") -> str:
        """The `[target]` table that names it."""
        lines = ["[target]", f"data = '{self.data}'", f"bin = '{BIN}'", f'dsn = "{dsn}"']
        lines += ["allow_changes = true", 'accept = ["commits", "sessions"]', *more]
        return "\n".join(lines)

    def ctl(self, action: str, *more: str | Path) -> None:
        words = [BIN / "pg_ctl", action, "-D", self.data, "-s", "-w", *more]
        self.account.require(words, limit_s=60)

    def start(self) -> None:
        self.ctl("start", "-l", self.place / "hand.log")

    def stop(self) -> None:
        self.ctl("stop", "-m", "fast")

    def crash(self) -> None:
        """Its postmaster is killed; once this returns it can be started again."""
        postmaster = postmaster_below(self.data)
        os.kill(postmaster, signal.SIGKILL)
        # While nobody has reaped it, and while one of its children lives, pg_ctl starts nothing.
        wait_until(lambda: not psutil.pid_exists(postmaster), "it is gone")
        wait_until(lambda: servers_below(self.data) == [], "its children are gone")

    @contextmanager
    def kept_down(self) -> Iterator[None]:
        """Its configuration does not let it start meanwhile."""
        rules = self.data / "pg_hba.conf"
        found = rules.read_text()
        rules.write_text("nonsense\n")
        try:
            yield
        finally:
            rules.write_text(found)

    def is_up(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def admin(self, dbname: str = "lab") -> Connection:
        return connect(ConnectionParameters(str(self.sockets), self.port, "lab", dbname))

    def state(self) -> str:
        said = self.account.require([BIN / "pg_controldata", "-D", self.data], limit_s=10)
        (line,) = (one for one in said.splitlines() if one.startswith("Database cluster state"))
        return line.partition(":")[2].strip()

    def as_it_lies(self) -> object:
        """What a run leaves as it was, on a stopped cluster."""
        names = sorted(path.name for path in (*self.data.iterdir(), *self.place.iterdir()))
        texts = {path.name: path.read_bytes() for path in self.data.glob("*.conf")}
        return names, texts, self.data.stat().st_ino, self.data.stat().st_mode


@contextmanager
def stopped_cluster(base: Path, account: Account) -> Iterator[StoppedCluster]:
    """A cluster of our own below `base`, gone afterwards."""
    if not (BIN / "postgres").exists():
        pytest.skip("Debian's postgresql-15 is not installed")
    place = Path(tempfile.mkdtemp(prefix="rest-", dir=base))
    place.chmod(0o711)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        cluster = StoppedCluster(place, account, probe.getsockname()[1])
    shutil.chown(place, account.uid, account.gid)
    cluster.sockets.mkdir()
    shutil.chown(cluster.sockets, account.uid, account.gid)
    words: list[str | Path] = [BIN / "initdb", "-D", cluster.data, "-A", "trust", "-U", "lab"]
    account.require([*words, "--no-sync", "--locale=C"], limit_s=60)
    with (cluster.data / "postgresql.conf").open("a") as file:
        file.write(
            CONFIGURATION.format(sockets=cluster.sockets, data=cluster.data, port=cluster.port)
        )
    try:
        cluster.start()
        with cluster.admin("postgres") as session:
            session.execute("CREATE DATABASE lab")
        with cluster.admin() as session:
            session.execute("CREATE TABLE own AS SELECT i FROM generate_series(1, 3) i")
            session.execute("ALTER SYSTEM SET maintenance_work_mem = '70MB'")
        cluster.stop()
        yield cluster
    finally:
        if cluster.is_up():
            account.run([BIN / "pg_ctl", "stop", "-D", cluster.data, "-m", "immediate"], limit_s=60)
        shutil.rmtree(place)


@contextmanager
def left_stopped(
    cluster: StoppedCluster, patch: pytest.MonkeyPatch, folder: Path
) -> Iterator[None]:
    """Afterwards it is stopped, as it was found, and nothing of it is remembered."""
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    assert not cluster.is_up()
    before = cluster.as_it_lies()
    yield
    found_up = cluster.is_up()
    if found_up:  # the next test's cluster is stopped whatever became of this one
        cluster.stop()
    assert not found_up
    assert cluster.state() == "shut down"
    assert cluster.as_it_lies() == before
    assert not any((cluster.data / name).exists() for name in (RUN_LOG, START_LOG, MARK))
    servers = folder / "state" / "pgassay" / "servers"
    # What a write that was killed has left aside is nothing that anybody reads.
    assert [*servers.glob("[!.]*")] == [], "it is forgotten"
    cluster.start()
    try:
        with cluster.admin() as session:
            assert session.execute("SELECT i FROM own ORDER BY i").fetchall() == [(1,), (2,), (3,)]
            assert session.execute("SELECT to_regnamespace('pgassay')").fetchone() == (None,)
            assert session.execute("SHOW maintenance_work_mem").fetchone() == ("70MB",)
            assert session.execute("SHOW shared_buffers").fetchone() == ("128MB",)
    finally:
        cluster.stop()
