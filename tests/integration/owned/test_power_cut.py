"""The host loses power in a trial: `recover` restores the server, finished trials are kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pgassay.samples.journal import open_changes
from support.hosts.crash_disk import CrashDisk, crash_disk
from support.runs.broken import watched
from support.runs.command import pgassay
from support.servers.debian import CONF_ROOT, DebianServer, debian_server
from support.servers.lab import WAIT_LIMIT_S
from support.servers.untouched import own_rows

SPEC = """
[target]
dsn = "{dsn}"
cluster = "15/lab"
allow_changes = true
allow_restart = true
accept = ["commits", "sessions"]
[reset]
level = "none"
[workload]
use = "payments-write"
[factors.postgres]
work_mem = ["5MB", "9MB"]
[load]
clients = 2
step = "3s"
warmup = "0.2s"
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


@pytest.fixture(scope="module", params=["ext4", pytest.param("xfs", marks=pytest.mark.heavy)])
def disk(servers_base: Path, request: pytest.FixtureRequest) -> Iterator[CrashDisk]:
    with crash_disk(servers_base / f"power-{request.param}", request.param) as disk:
        yield disk


@pytest.fixture
def server(disk: CrashDisk) -> Iterator[DebianServer]:
    with debian_server(disk.folder) as server:
        with (server.conf / "15" / "lab" / "postgresql.conf").open("a") as file:
            file.write("fsync = on\n")
        server.ctl("restart")
        with server.admin() as session:
            session.execute("CREATE TABLE own AS SELECT i FROM generate_series(1, 3) i")
            session.execute("ALTER SYSTEM SET work_mem = '6MB'")
            session.execute("SELECT pg_reload_conf()")
        os.sync()
        yield server


def postmaster(server: DebianServer) -> int:
    return int((server.data / "postmaster.pid").read_text().split()[0])


def kill_all_of(postmaster: int) -> None:
    """All at once, as without power: a process left over could wait for a lock of a killed one."""
    os.kill(postmaster, signal.SIGSTOP)
    processes = [*psutil.Process(postmaster).children(), psutil.Process(postmaster)]
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    assert psutil.wait_procs(processes, timeout=WAIT_LIMIT_S)[1] == []


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(0, id="first trial", marks=pytest.mark.heavy),
        pytest.param(1, id="second trial"),
    ],
)
def test_after_a_power_cut_the_server_is_restored_and_finished_trials_are_kept(
    after: int, server: DebianServer, disk: CrashDisk
) -> None:
    run, state, spec = (server.base / name for name in ("run", "state", "x.toml"))
    environment = {CONF_ROOT: str(server.conf), "XDG_STATE_HOME": str(state)}
    spec.write_text(SPEC.format(dsn=server.dsn()))
    found = server.data.stat().st_ino, server.file.read_bytes()
    with watched(run, spec, **environment) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= after, "finished trials")
        tool.forget()
        tool.wait_for(lambda: tool.says(r"\b2 clients "), "a load")
        kept = tool.finished()[:after]
        process = postmaster(server)
        disk.lose_power()
        tool.kill()
        kill_all_of(process)
    disk.start_again()
    assert open_changes(run / "journal.jsonl")
    # The host's own start of what lies at the server's path.
    (server.data / "postmaster.pid").unlink(missing_ok=True)
    server.ctl("start")

    done = pgassay("recover", run, **environment)

    assert done.returncode == 0, done.stderr
    assert open_changes(run / "journal.jsonl") == []
    assert (server.data.stat().st_ino, server.file.read_bytes()) == found
    assert own_rows(server) == [(1,), (2,), (3,)]
    assert list((state / "pgassay" / "servers").iterdir()) == []
    assert [path.name for path in sorted((run / "trials").glob("[0-9]*"))][:after] == kept
    resumed = pgassay("run", "--resume", run, "--json", **environment)
    assert resumed.returncode == 0, resumed.stderr
    assert (server.data.stat().st_ino, server.file.read_bytes()) == found
