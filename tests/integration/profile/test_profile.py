"""perf on real servers: the command, and the profiles of a run's arms."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgassay.errors import ExitCode
from support.packages import needs
from support.runs.broken import assert_no_server_left
from support.runs.command import last_line, pgassay
from support.runs.forked import begin
from support.runs.json_page import documented
from support.runs.observing import busy_sessions
from support.servers.lab import LabServer, wait_until

WORK = "SELECT count(*) FROM generate_series(1, 20000)"
WAITS = "SELECT pg_sleep(0.01)"
SPEC = """
question = "Does it run?"
[workload]
use = "payments-write"
scale = 1
{factor}
[load]
clients = 2
rate = 200
step = "{step}"
warmup = "0.1s"
[reset]
level = "none"
[profile]
seconds = "2s"
hz = 499
[design]
seed = 3
min_blocks = 2
max_blocks = 2
"""


@pytest.fixture
def without_perf(servers_base: Path) -> Iterator[str]:
    """A PATH on which everything is found but perf, also by the server's account."""
    folder = servers_base / "without-perf"
    folder.mkdir(mode=0o755)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            if program.name != "perf" and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    yield str(folder)
    shutil.rmtree(folder)


def test_a_running_server_is_profiled_by_function_and_application(
    lab_server: LabServer, tmp_path: Path
) -> None:
    needs("linux-perf")
    out = tmp_path / "profile"
    with busy_sessions(lab_server.dsn() + " application_name=shop", WORK, WAITS):
        done = pgassay(
            "profile", "--duration", "1s", "--hz", "499", "--off-cpu", "--out", out, "--json",
            **lab_server.variables(),
        )  # fmt: skip
    assert done.returncode == ExitCode.DONE, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == documented("the profile", "pgassay.profile/1")
    cpu, off_cpu = found["profiles"]
    assert set(cpu) == documented("`profiles[]`", "pgassay.profile/1")
    assert (cpu["kind"], off_cpu["kind"]) == ("cpu", "off-cpu")
    largest = cpu["parts"][0]
    assert (largest["process"], largest["name"]) == ("client backend", "application shop")
    total = sum(part["ms"] for part in cpu["parts"])
    functions = {one["name"] for one in cpu["functions"]}
    assert {"PostgresMain", "ExecAgg"} & functions or any("tuplestore" in f for f in functions)
    assert cpu["unnamed"] < 0.2 * cpu["samples"]
    assert total == pytest.approx(cpu["samples"] * cpu["unit_ns"] / 1e6)
    assert cpu["perf_cpu_s"] > 0
    # One of two sessions sleeps nearly all of the time, the other waits for its client at times.
    slept = sum(part["ms"] for part in off_cpu["parts"] if part["name"] == "application shop")
    assert 0.3 * off_cpu["seconds"] * 1e3 < slept < 3 * off_cpu["seconds"] * 1e3
    names = {path.name for path in out.iterdir()}
    assert {"cpu.svg", "cpu.folded", "cpu.speedscope.json", "cpu.pb.gz", "off-cpu.svg"} <= names
    assert b"client backend" in gzip.decompress((out / "cpu.pb.gz").read_bytes())
    again = pgassay("profile", "--out", out, **lab_server.variables())
    assert last_line(again.stderr).endswith("exists already; name another with --out")


def test_a_server_whose_sessions_come_and_go_is_profiled(
    lab_server: LabServer, tmp_path: Path
) -> None:
    over = threading.Event()

    def reconnect() -> None:
        while not over.is_set():
            with psycopg.connect(lab_server.dsn()) as session:
                session.execute("SELECT 1")

    threads = [threading.Thread(target=reconnect) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        out = tmp_path / "profile"
        words = ("profile", "--duration", "1s", "--hz", "1999", "--out", str(out))
        done = pgassay(*words, **lab_server.variables())
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert done.returncode == ExitCode.DONE, done.stderr
    assert "client backend" in done.stdout, done.stdout


def test_ctrl_c_ends_a_profile_and_keeps_what_was_recorded(
    lab_server: LabServer, tmp_path: Path
) -> None:
    out = tmp_path / "profile"
    words = ["--duration", "10min", "--hz", "499", "--off-cpu", "--json", "--out", str(out)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with busy_sessions(lab_server.dsn(), WORK):
        there = os.environ | lab_server.variables() | {"TMPDIR": str(temporary)}
        with begin(["-m", "pgassay", "profile", *words], there) as process:
            wait_until(
                lambda: any(one.stat().st_size > 2**20 for one in temporary.glob("*/perf.data")),
                "perf has recorded a part",
            )
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, errors
    found = json.loads(printed)
    assert [one["kind"] for one in found["profiles"]] == ["cpu"]
    assert found["profiles"][0]["samples"] > 0
    assert found["notes"] == ["off-cpu: not profiled, because it was stopped before"]
    assert (out / "cpu.svg").is_file()
    assert list(temporary.iterdir()) == [], "perf's files hold parts of sessions' memory"


def test_without_perf_the_command_is_one_line_that_names_the_package(
    lab_server: LabServer, without_perf: str, tmp_path: Path
) -> None:
    found = lab_server.variables() | {"PATH": without_perf}
    done = pgassay("profile", "--out", tmp_path / "one", **found)
    assert done.returncode == ExitCode.USAGE
    said = " ".join(done.stderr.split())
    assert "profiles take perf, which is not installed" in said
    assert "apt install linux-perf" in said
    assert not (tmp_path / "one").exists()


def test_every_arm_is_profiled_beside_its_trials_by_scenario(
    own_base: Path, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    factor = '[factors.postgres]\nsynchronous_commit = ["on", "off"]'
    spec.write_text(SPEC.format(factor=factor, step="2s"))
    done = pgassay("run", spec, "--out", run)
    assert done.returncode == ExitCode.DONE, done.stderr
    assert_no_server_left(own_base)
    assert len(list((run / "trials").iterdir())) == 4, "profiles are no trials"
    found = json.loads((run / "analysis.json").read_text())
    assert len(found["trials"]) == 4
    arms = found["profiles"]["arms"]
    assert [one["arm"] for one in arms] == ["a1", "a2"], done.stderr
    for one in arms:
        parts = {(part["process"], part["name"]) for part in one["parts"]}
        assert {name for process, name in parts if process == "client backend"} & {
            "scenario payment", "scenario transfer", "scenario balance",
        }  # fmt: skip
        assert one["transactions"] == pytest.approx(200 * one["seconds"], rel=0.5)
        assert one["us_per_tx"] > 0
    assert (run / "profiles" / "a1-a2.cpu.svg").is_file()
    page = (run / "report.html").read_text()
    assert "By function: CPU time per transaction" in page
    assert page.count("<iframe") == 3


def test_a_run_on_a_machine_without_perf_has_its_trials_and_says_so(
    own_base: Path, without_perf: str, tmp_path: Path
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(factor="", step="0.3s"))
    done = pgassay("run", spec, "--out", run, PATH=without_perf)
    assert done.returncode == ExitCode.DONE, done.stderr
    assert_no_server_left(own_base)
    said = " ".join(done.stderr.split())
    assert "no profiles: profiles take perf, which is not installed" in said
    assert len(list((run / "trials").iterdir())) == 2
    assert "no profiles: profiles take perf" in (run / "report.html").read_text()
