"""Servers under a service: Debian's real pg_ctlcluster, in private directories.

Enters: a directory that the server's account can pass through. Leaves: a running cluster, and a
`systemctl` that controls it where no systemd runs. Never: touches the machine's clusters.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from psycopg.conninfo import make_conninfo

from pgassay.errors import ConnectionRefused
from pgassay.server.protocol import Connection, ConnectionParameters
from support.packages import needs
from support.servers.lab import is_root, wait_until
from support.servers.sessions import connect

CONF_ROOT = "PG_CLUSTER_CONF_ROOT"
VERSION, NAME = "15", "lab"
UNIT = "postgresql@15-lab"
BIN = Path("/usr/lib/postgresql/15/bin")

# Like Debian's unit, whose start counts as done also where the server did not come up.
SYSTEMCTL = """#!/bin/sh
# Stands in for systemctl: one unit, a real server.
export {variable}='{conf}'
PATH=/usr/sbin:/usr/bin:/sbin:/bin
action=$1
for unit; do :; done
case $action in
reset-failed) ;;
show)
  if [ "$unit" = '{unit}' ]; then
    echo LoadState=loaded
    echo "MainPID=$(head -n 1 '{data}/postmaster.pid' 2>/dev/null || echo 0)"
  else
    echo LoadState=not-found
    echo MainPID=0
  fi ;;
*)
  [ "$unit" = '{unit}' ] || {{ echo "Unit $unit not found." >&2; exit 5; }}
  pg_ctlcluster {version} {name} "$action" >/dev/null 2>&1
  exit 0 ;;
esac
"""


@dataclass(frozen=True)
class DebianServer:
    """A cluster of postgresql-common."""

    base: Path
    port: int
    account: str
    folder: str = "server"

    @property
    def conf(self) -> Path:
        return self.base / "conf"

    @property
    def data(self) -> Path:
        return self.base / self.folder / "data"

    @property
    def log(self) -> Path:
        return self.base / self.folder / "log"

    @property
    def sockets(self) -> Path:
        return self.base / self.folder / "run"

    @property
    def file(self) -> Path:
        return self.data / "postgresql.auto.conf"

    def dsn(self) -> str:
        return make_conninfo(host=str(self.sockets), port=self.port, user="lab", dbname="lab")

    def admin(self, dbname: str = "lab") -> Connection:
        return connect(ConnectionParameters(str(self.sockets), self.port, "lab", dbname))

    def ctl(self, action: str, *, check: bool = True) -> None:
        done = subprocess.run(
            ["pg_ctlcluster", VERSION, NAME, action],
            env=os.environ | {CONF_ROOT: str(self.conf)},
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert not (check and done.returncode), done.stderr

    def started_at(self) -> datetime:
        with self.admin() as session:
            row = session.execute("SELECT pg_postmaster_start_time()").fetchone()
        assert row is not None
        return cast(datetime, row[0])

    def is_up(self) -> bool:
        return (self.data / "postmaster.pid").exists()


@contextmanager
def debian_server(base: Path, folder: str = "server") -> Iterator[DebianServer]:
    """A cluster of our own below `base`, gone afterwards."""
    needs("postgresql-15")
    account = "postgres" if is_root() else pwd.getpwuid(os.geteuid()).pw_name
    place = Path(tempfile.mkdtemp(prefix="deb-", dir=base))
    place.chmod(0o711)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server = DebianServer(place, probe.getsockname()[1], account, folder)
    server.conf.mkdir(mode=0o755)
    for directory in (server.data.parent, server.sockets):
        directory.mkdir()
        if is_root():
            shutil.chown(directory, account, account)
    words: list[str | Path] = [
        "pg_createcluster",
        "-u",
        account,
        "-d",
        server.data,
        "-l",
        server.log,
    ]
    words += ["-s", server.sockets, "-p", str(server.port), "--start-conf=manual"]
    environment = os.environ | {CONF_ROOT: str(server.conf)}
    created = subprocess.run(
        [*words, VERSION, NAME, "--", "--auth=trust", "-U", "lab", "--no-sync", "--locale=C"],
        env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert created.returncode == 0, created.stderr
    try:
        settings = server.conf / VERSION / NAME / "postgresql.conf"
        with settings.open("a") as file:
            file.write("listen_addresses = ''\nfsync = off\n")
        create_account_role(server)
        server.ctl("start")
        with server.admin("postgres") as session:
            session.execute("CREATE DATABASE lab")
        yield server
    finally:
        server.ctl("stop", check=False)
        shutil.rmtree(place)


def make_debian_objects(session: Connection) -> None:
    """The database of such a server, and the role of the account that it runs under."""
    session.execute("CREATE DATABASE lab")
    account = pwd.getpwuid(os.geteuid()).pw_name if not is_root() else "postgres"
    if account != "lab":
        session.execute(f'CREATE ROLE "{account}" LOGIN'.encode())


def create_account_role(server: DebianServer) -> None:
    """Let the account log in, before the first start.

    As that role pg_ctlcluster looks whether a start has ended: three tries half a second apart
    where it is let in, else ten.
    """
    words: list[str | Path] = [BIN / "postgres", "--single", "-D", server.data]
    words += ["-c", f"config_file={server.conf / VERSION / NAME / 'postgresql.conf'}", "postgres"]
    subprocess.run(
        words, input=f'CREATE ROLE "{server.account}" LOGIN\n', text=True, check=True,
        capture_output=True, user=server.account if is_root() else None,
    )  # fmt: skip


@contextmanager
def shut_out(server: DebianServer) -> Iterator[None]:
    """Meanwhile the server is up and a rule of pg_hba.conf lets nobody in."""
    rules = server.conf / VERSION / NAME / "pg_hba.conf"
    allowed = rules.read_text()
    try:
        rules.write_text("local all all reject\n")
        server.ctl("reload")
        wait_until(lambda: not lets_in(server), "the rule is in force")
        yield
    finally:
        rules.write_text(allowed)
        server.ctl("reload")
        wait_until(lambda: lets_in(server), "it lets us in again")


def lets_in(server: DebianServer) -> bool:
    """Whether it takes connections of ours."""
    with suppress(ConnectionRefused):
        server.admin().close()
        return True
    return False


def stand_in_systemctl(folder: Path, server: DebianServer) -> Path:
    """A folder with that program, for the front of PATH."""
    program = folder / "systemctl"
    program.write_text(
        SYSTEMCTL.format(
            variable=CONF_ROOT, conf=server.conf, unit=UNIT, data=server.data,
            version=VERSION, name=NAME,
        )
    )  # fmt: skip
    program.chmod(0o755)
    return folder
