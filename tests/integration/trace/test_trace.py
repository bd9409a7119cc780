"""`pgassay trace` on real servers: both ways, its ends, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import ExitCode
from pgassay.server.hosts.account import Account
from pgassay.trials.trace.requirements import missing
from support.packages import needs
from support.runs.command import pgassay
from support.runs.observing import busy_sessions
from support.servers.lab import (
    SECRET,
    LabServer,
    installation_named,
    running_lab_server,
    scalar,
    wait_until,
)
from support.servers.pool import on_every_version


@pytest.fixture(scope="module", autouse=True)
def _tracing() -> None:
    needs("bpftrace")
    if (lack := missing()) is not None:
        pytest.skip(str(lack))


WRITES = "UPDATE traced SET n = n + 1 WHERE id = 1"


def probes_left() -> list[str]:
    """Probes that some tool has defined in the kernel's list."""
    events = Path("/sys/kernel/tracing/uprobe_events")
    return events.read_text().splitlines() if events.exists() else []


TRACE = (sys.executable, "-m", "pgassay", "trace")


def tracing(server: LabServer, out: Path, *options: str) -> subprocess.Popen[str]:
    """A running `pgassay trace --json`."""
    return subprocess.Popen(
        [*TRACE, server.place(), "--json", "--out", out, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PGPASSWORD": SECRET},
    )


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(out)
    return found


@on_every_version
def test_waits_checkpoints_and_wal_are_timed_by_second_and_no_probe_is_left(
    lab_server: LabServer, tmp_path: Path
) -> None:
    before = probes_left()
    with lab_server.admin() as session:
        session.execute("CREATE TABLE IF NOT EXISTS traced AS SELECT 1 AS id, 0 AS n")
        session.execute("GRANT ALL ON traced TO PUBLIC")

        def writes() -> int:
            return int(scalar(session, "SELECT n FROM traced"))

        with busy_sessions(lab_server.dsn(), *[WRITES] * 3):
            process = tracing(lab_server, tmp_path / "t", "--what", "lwlocks,checkpoints,wal")
            assert process.stderr is not None
            said = ""
            while "tracing PostgreSQL" not in said:
                line = process.stderr.readline()
                assert line, said
                said += line
            started_ns = time.time_ns()
            session.execute("CHECKPOINT")
            enough = writes() + 20
            wait_until(lambda: writes() >= enough, "transactions of the sessions")
            time.sleep(1.5)  # a whole second of readings
            process.send_signal(signal.SIGTERM)
            found = result(process)
    # Only Debian's build has static probes.
    static = found["server_version"].startswith("15")
    # Without them 13 does not tell in which variable its sessions keep what they wait for.
    other = None if found["server_version"].startswith("13") else "uprobe"
    assert found["ways"].get("lwlock_wait") == ("usdt" if static else other)
    assert found["ways"]["phases"] == ("usdt" if static else "uprobe")
    points = {(one["point"], one["key"]): one for one in found["points"]}
    assert points["wal_flush", ""]["count"] > 10
    # Names of locks, never their numbers, whichever way they were seen.
    locks = {key for point, key in points if point == "lwlock_wait"} - {"(group update)"}
    assert all(key.isidentifier() for key in locks)
    (checkpoint,) = found["checkpoints"]
    assert checkpoint["cause"] == "requested"
    assert started_ns <= checkpoint["start_ns"] < checkpoint["end_ns"] <= time.time_ns()
    assert found["unmatched"] == {}
    assert probes_left() == before
    assert (tmp_path / "t" / "report.html").exists()


def test_a_trace_that_is_killed_leaves_no_tracer_behind(
    lab_server: LabServer, tmp_path: Path
) -> None:
    out = tmp_path / "t"
    process = tracing(lab_server, out, "--what", "lwlocks", "--duration", "60s")
    assert process.stderr is not None
    while "tracing PostgreSQL" not in (line := process.stderr.readline()):
        assert line
    assert tracers_of(out)
    process.kill()
    process.communicate()
    wait_until(lambda: not tracers_of(out), "bpftrace has ended")


def test_a_trace_ends_when_its_server_is_stopped(
    account: Account, servers_base: Path, tmp_path: Path
) -> None:
    with running_lab_server(installation_named("debian-15"), account, servers_base) as server:
        process = tracing(server, tmp_path / "t", "--what", "checkpoints")
        assert process.stderr is not None
        while "tracing PostgreSQL" not in (line := process.stderr.readline()):
            assert line
        server.cluster.stop(gently=False)
        assert result(process)["ended_by"] == "server"


def tracers_of(out: Path) -> list[str]:
    """Processes that run the program of this trace."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"bpftrace") and str(out / "program.bt").encode() in words:
            found.append(entry.name)
    return found


def test_a_server_that_cannot_be_reached_leaves_no_directory(tmp_path: Path) -> None:
    done = pgassay("trace", "-h", "127.0.0.1", "-p", "1", "--out", tmp_path / "t")
    assert done.returncode == ExitCode.USAGE
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "t").exists()
