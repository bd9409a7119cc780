"""A real server whose trials run on copies of its data directory, and a tool that dies at that.

Enters: a Debian cluster. Leaves: targets opened and prepared on it, a tool killed at a chosen step,
and what must be true of the server afterwards. Never: leaves a copy behind unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pgassay.errors import ConnectionRefused
from pgassay.target.data_place import MARK
from pgassay.target.existing_copied import CopiedTarget
from pgassay.target.protocol import Connection
from pgassay.target.session import connect
from support.forked import run
from support.servers import RecordingJournal, wait_until
from support.services import CONF_ROOT, DebianServer
from support.targets import copied, existing

BESIDE = "data.pgassay-*"
SPEC = """
[target]
dsn = "{dsn}"
cluster = "15/lab"
allow_changes = true
allow_restart = true
allow_data_copy = true
accept = ["commits", "sessions"]
[reset]
level = "snapshot"
[workload]
use = "bank-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 2
step = "0.6s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


def build(session: Connection) -> None:
    session.execute("CREATE TABLE account AS SELECT i FROM generate_series(1, 100) i")


def own_rows(server: DebianServer) -> list[tuple[int]]:
    with server.admin() as session:
        return session.execute("SELECT i FROM public.own ORDER BY i").fetchall()


@contextmanager
def left_untouched(server: DebianServer, patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """Afterwards the server is up on the very directory it had, with nothing beside it."""
    patch.setenv(CONF_ROOT, str(server.conf))
    patch.setenv("XDG_STATE_HOME", str(folder / "state"))
    with server.admin() as session:
        session.execute("DROP TABLE IF EXISTS own")
        session.execute("CREATE TABLE own AS SELECT i FROM generate_series(1, 3) i")
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = _directory(server)
    yield
    assert _directory(server) == before
    assert not (server.data / MARK).exists()
    assert list(server.data.parent.glob(BESIDE)) == []
    assert own_rows(server) == [(1,), (2,), (3,)]
    with server.admin() as session:
        assert session.execute("SELECT to_regnamespace('pgassay')").fetchone() == (None,)


def _directory(server: DebianServer) -> tuple[int, int, bytes]:
    found = server.data.stat()
    return found.st_ino, found.st_mode, server.file.read_bytes()


def on_copies(
    server: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    kind: str = "pg_ctlcluster",
) -> CopiedTarget:
    """A target whose server is on a copy, with its data built; to be closed."""
    target = copied(existing(kind, server, journal, request))
    target.open()
    target.prepare(build, {})
    return target


def let_go(target: CopiedTarget) -> None:
    """As if its process were killed: both locks die with their owner, and so does its ssh."""
    control, copies = target._control, target._copies
    assert control is not None
    assert copies is not None
    assert copies._lock is not None
    backend, parameters = control.info.backend_pid, target.parameters()
    control.close()

    def is_gone() -> bool:
        with suppress(ConnectionRefused), connect(parameters) as session:
            row = session.execute("SELECT FROM pg_locks WHERE pid = %s", (backend,)).fetchone()
            return row is None
        return True

    wait_until(is_gone, "its session has ended")
    copies._lock.release()
    target._machine.close()


# Dies as by SIGKILL after its n-th step: a command on directories, a stop or a start.
DYING = """
import os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.target.data_place import DataPlace
from pgassay.target.service import Service
from support.targets import ACCESS, copied
from pgassay.target.existing import ExistingTarget

dsn, journal, kind, last = sys.argv[1:5]
left = int(last)

def counted(owner, name):
    plain = getattr(owner, name)
    def step(*words, **options):
        global left
        found = plain(*words, **options)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(owner, name, step)

target = copied(ExistingTarget(
    dsn, FileJournal(Path(journal)), allow_changes=True, accept=["commits", "sessions"],
    access=ACCESS[kind],
))
target.open()
for owner, names in ((DataPlace, ("run", "remove")), (Service, ("stop", "start"))):
    for name in names:
        counted(owner, name)
make = "CREATE TABLE account (i int)"
target.prepare(lambda session: session.execute(make), {"work_mem": "7MB"})
target.reset({"work_mem": "8MB"})
target.close()
print("steps", int(last) - left)
"""


def die_after(steps: int, debian: DebianServer, journal: Path, kind: str) -> str | None:
    """The driver, killed after so many steps; what it said where it came to its end."""
    done = run(["-c", DYING, debian.dsn(), str(journal), kind, str(steps)])
    if done.returncode == -9:
        return None
    assert done.returncode == 0, done.stderr
    return done.stdout
