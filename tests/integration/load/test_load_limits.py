"""A load survives forbidden system calls, huge results, hung servers and lost connections."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hosts import without_io_uring
from support.runs.command import pgassay
from support.runs.forked import begin
from support.servers.lab import LabServer, wait_until

PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""
LOAD = ["-m", "pgassay", "load", "-n"]
MILLION = "SELECT g, repeat('x', 100) FROM generate_series(1, 1000000) AS g;\n"
BYTES_PER_KB = 1024
FLAT_BYTES = 16 * 1024 * 1024
"""A result of a million such rows has 120 MB."""
END_ALL_THREE = """
WITH load AS (
  SELECT pid FROM pg_stat_activity
  WHERE application_name = 'pgassay' AND pid <> pg_backend_pid() AND state = 'idle'
    AND state_change < clock_timestamp() - interval '0.3 s'
)
SELECT pg_terminate_backend(pid) FROM load WHERE (SELECT count(*) FROM load) = 3
"""
"""Not before the load has connected all of its sessions."""


@pytest.fixture
def environment(lab_server: LabServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in lab_server.variables().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "sleep.sql"
    path.write_text("SELECT pg_sleep(0.02);\n")
    return path


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.usefixtures("environment")
def test_a_load_uses_epoll_and_says_so_where_io_uring_is_forbidden(script: Path) -> None:
    forbidden = [sys.executable, without_io_uring.__file__, sys.executable, *LOAD]
    forbidden += ["-f", str(script), "-t", "3"]
    done = run([*forbidden, "--json"])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["asked"]["transport"], found["backend"]) == ("auto", "epoll")
    assert ", epoll, seed" in run(forbidden).stdout
    demanded = run([*forbidden, "--transport", "io_uring"])
    assert demanded.returncode != 0
    assert "io_uring" in demanded.stderr
    assert demanded.stderr.count("\n") == 1


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("protocol", ["simple", "prepared"])
def test_a_result_of_a_million_rows_is_not_kept_in_memory(tmp_path: Path, protocol: str) -> None:
    def peak_bytes(name: str, text: str) -> int:
        path = tmp_path / name
        path.write_text(text)
        arguments = ["-f", str(path), "-t", "2", "-M", protocol]
        done = run([sys.executable, "-c", PEAK, sys.executable, *LOAD, *arguments])
        assert done.returncode == 0, done.stderr
        return int(done.stdout) * BYTES_PER_KB

    assert peak_bytes("million.sql", MILLION) < peak_bytes("one.sql", "SELECT 1;\n") + FLAT_BYTES


def backends(server: LabServer) -> list[int]:
    with server.admin() as session:
        rows = session.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE application_name = 'pgassay' AND query LIKE '%pg_sleep(0.02)%'"
            " AND pid <> pg_backend_pid()"
        ).fetchall()
    return [int(row[0]) for row in rows]


@pytest.fixture
def to_be_continued() -> Iterator[list[int]]:
    """Stopped processes that continue when the test has ended."""
    stopped: list[int] = []
    yield stopped
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.usefixtures("environment")
def test_a_load_ends_in_time_though_its_backends_hang(
    lab_server: LabServer, script: Path, to_be_continued: list[int]
) -> None:
    command = [*LOAD, "-f", str(script), "-c", "2", "-T", "2", "--json"]
    with begin(command) as process:
        wait_until(lambda: len(backends(lab_server)) == 2, "the load runs")
        for pid in backends(lab_server):
            os.kill(pid, signal.SIGSTOP)
            to_be_continued.append(pid)
        printed, _ = process.communicate(timeout=60)
    found = json.loads(printed)
    assert found["duration_s"] == pytest.approx(2.0)
    assert sum(one["transactions"] for one in found["intervals"]) == found["transactions"]
    assert found["unfinished"] == 2
    assert "trials/load/unfinished" in {note["code"] for note in found["warnings_coded"]}


@pytest.mark.usefixtures("environment")
def test_lost_connections_are_reported_with_their_number_and_time(
    lab_server: LabServer, script: Path
) -> None:
    shape = ["-f", str(script), "-c", "4", "-T", "2", "--reconnect", "on-loss"]
    with begin([*LOAD, *shape, "--json"]) as process:
        wait_until(lambda: len(backends(lab_server)) == 4, "the load runs")
        with lab_server.admin() as session:
            for pid in backends(lab_server)[:2]:
                session.execute("SELECT pg_terminate_backend(%s)", [pid])
        printed, _ = process.communicate(timeout=60)
    found = json.loads(printed)
    assert found["outages"]
    notes = {note["code"]: note["values"] for note in found["warnings_coded"]}
    assert notes["trials/load/connections-lost"] == {"count": 2}
    (away,) = (
        notes[code] for code in ("trials/load/away-once", "trials/load/away") if code in notes
    )
    assert away["who"]["code"] == "trials/load/some-connections"
    assert away["who"]["values"]["connections"] == 4


@pytest.mark.usefixtures("environment")
def test_a_failure_is_reported_once(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.sql"
    wrong.write_text("SELECT 1/0;\n")
    done = pgassay("load", "-n", "-f", wrong, "-t", "1")
    assert done.stderr.count("division by zero") == 1
    assert "1 transaction failed; first 22012" in done.stderr
    assert done.stderr.count("\n") == 1
    absent = pgassay("load", "-n", "-d", "no\nsuch", "-t", "1")
    assert 'database "no such" does not exist' in absent.stderr


@pytest.mark.usefixtures("environment")
def test_the_reason_of_sessions_that_are_ended_between_transactions_is_reported(
    lab_server: LabServer, script: Path
) -> None:
    """Here none has begun a transaction yet, and one would in a quarter of an hour."""
    for more in (["--json"], []):
        rare = ["-f", str(script), "-c", "3", "-T", "5", "-R", "0.001", "--random-seed", "1"]
        with begin([*LOAD, *rare, *more]) as process:
            with lab_server.admin() as session:

                def end_all() -> bool:
                    return len(session.execute(END_ALL_THREE).fetchall()) == 3

                wait_until(end_all, "every session was ended")
            printed, warned = process.communicate(timeout=60)
        reason = "FATAL 57P01: terminating connection due to administrator command"
        assert process.returncode == 2
        if more:
            found = json.loads(printed)
            first = found["first_error"]
            assert (first["sqlstate"], first["message"]) == ("57P01", f"connection lost: {reason}")
            assert (found["connections"]["count"], found["lost_connections"]) == (3, 3)
            assert (found["transactions"], found["failed"]) == (0, 0)
        else:
            assert "3 connections were lost" in warned
            assert reason in warned
            assert printed.startswith("3 connections, ")


@pytest.mark.usefixtures("environment")
def test_ctrl_c_cancels_running_statements_at_once(lab_server: LabServer, tmp_path: Path) -> None:
    path = tmp_path / "long.sql"
    path.write_text("BEGIN;\nSELECT pg_sleep(1000);\nSELECT pg_sleep(1001);\nEND;\n")

    def sleeping() -> int:
        with lab_server.admin() as session:
            found = session.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE query LIKE '%pg_sleep(100%' AND pid <> pg_backend_pid()"
            )
            return len(found.fetchall())

    command = [*LOAD, "-f", str(path), "-c", "4", "-T", "600"]
    with begin(command) as process:
        wait_until(lambda: sleeping() == 4, "every client sleeps")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=4)
    assert process.returncode == 130
    wait_until(lambda: sleeping() == 0, "nothing runs at the server")
