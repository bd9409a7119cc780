"""`pgassay observe` as a service: it serves metrics, and goes on in its directory."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from urllib.error import URLError

from prometheus_client.parser import text_string_to_metric_families

from pgassay.errors import ExitCode
from pgassay.refusals.refusal import DirectoryRefused, SetupRefused
from support.runs.command import pgassay
from support.runs.observing import busy_sessions, ended, observing
from support.servers.lab import SECRET, LabServer, wait_until

COMMITS = "SELECT pg_sleep(0.005) FROM pg_catalog.pg_class LIMIT 1"
"""So many a second that the server's delay in counting the samplers' own is small beside them."""
LOCKED = "BEGIN; LOCK TABLE pgassay_locked; SELECT pg_sleep(0.3); COMMIT"
PREFIX = "pgassay_observe_"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def observed(server: LabServer, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`pgassay observe`, run to its end."""
    where = server.place("lab")
    options = ("--duration", "1s", "--out", str(out), *options)
    return pgassay("observe", where, *options, PGPASSWORD=SECRET)


def scraped(port: int) -> dict[str, float]:
    """The figures by name and, where there is one, class; empty where nothing is served."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except URLError:
        return {}
    assert "lab" not in text, "the name of a user or database"
    return {
        "/".join([sample.name.removeprefix(PREFIX), *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_are_those_of_the_recording(lab_server: LabServer, tmp_path: Path) -> None:
    with lab_server.admin() as session:
        session.execute("CREATE TABLE pgassay_locked ()")
    port, run = free_port(), tmp_path / "run"
    options = ("--metrics", str(port), "--segment", "6s")
    with (
        busy_sessions(lab_server.dsn(), LOCKED, LOCKED, LOCKED, COMMITS),
        observing(lab_server, run, *options) as process,
    ):
        wait_until(lambda: scraped(port).get("segments", 0) >= 1, "a segment is on disk")
        wait_until(lambda: "commits_per_second" in scraped(port), "the server was read")
        found = scraped(port)
        taken = observed(lab_server, run / "other", "--metrics", str(port))
        process.send_signal(signal.SIGTERM)
        ended(process, ExitCode.DONE)
    assert found["answers"] == 1
    assert found["commits_per_second"] > 20
    # One holds the table and sleeps, two wait for it.
    assert 1.0 < found["blocked_sessions"] == found["active_sessions/lock"] < 2.5
    assert found["disk_bytes"] > 1000
    assert found["sampler_looks_total"] > 10
    assert found["sampler_cpu_seconds_total"] > 0
    assert found["gap_seconds_total"] == 0
    assert found["seconds_total"] > 5
    assert scraped(port) == {}, "served after the end"
    assert taken.returncode == ExitCode.USAGE
    why = os.strerror(errno.EADDRINUSE)
    code = SetupRefused("metrics-not-served", f"--metrics {port}", why=why)
    assert taken.stderr == f"pgassay: {code}\n"
    assert not (run / "other").exists()


def test_an_observation_goes_on_in_its_directory(lab_server: LabServer, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with observing(lab_server, run, "--segment", "1s") as process:
        wait_until(lambda: (run / "segments" / "000002").exists(), "two segments are on disk")
        second = observed(lab_server, run)
        assert second.stderr == f"pgassay: {DirectoryRefused('is-alive', run)}\n"
        process.kill()
        process.wait()
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '5MB'")
        session.execute("SELECT pg_reload_conf()")
    before = json.loads((run / "observation.json").read_text())
    assert before["ended_by"] is None
    (run / "segments" / ".000099.part").mkdir(exist_ok=True)
    with observing(lab_server, run, "--segment", "1s", "--duration", "3s") as process:
        wait_until(lambda: "5120kB" in (run / "observation.json").read_text(), "a change is seen")
        with lab_server.admin() as session:
            session.execute("ALTER SYSTEM RESET work_mem")
            session.execute("SELECT pg_reload_conf()")
        found = ended(process)
    changed = found["changed_settings"]
    assert [(one["name"], one["first"], one["second"]) for one in changed] == [
        ("work_mem", "4096kB", "5120kB"),
        ("work_mem", "5120kB", "4096kB"),
    ]
    assert changed[0]["at_ns"] < changed[1]["at_ns"]
    numbers = sorted(one.name for one in (run / "segments").iterdir())
    assert numbers == [f"{number:06d}" for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 4
    assert found["ended_by"] == "duration"
    assert found["seconds"] > 4
    moved = {**before, "server": "a@b:1/c"}
    (run / "observation.json").write_text(json.dumps(moved))
    assert observed(lab_server, run).returncode == 0, "at another address"
    numbers = sorted(one.name for one in (run / "segments").iterdir())
    (run / "observation.json").write_text(json.dumps({**moved, "system_identifier": "1"}))
    other = observed(lab_server, run)
    assert other.returncode == ExitCode.USAGE
    code = DirectoryRefused("observes-another-server", run, server="a@b:1/c")
    assert f"pgassay: {code}\n" in other.stderr
    assert sorted(one.name for one in (run / "segments").iterdir())[: len(numbers)] == numbers
