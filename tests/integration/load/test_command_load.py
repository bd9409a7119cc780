"""An experiment whose load is a program of the user has the same record as any other."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from pgassay.samples.run_directory import RunDirectory
from pgassay.server.owned.installation import embedded_installation
from support.runs.command import pgassay
from support.runs.forked import begin
from support.servers.lab import SECRET, LabServer, wait_until

SPEC = """
[workload]
use = "pgbench"
{target}
[load]
clients = {clients}
step = "1s"
{load}
[design]
seed = 3
min_blocks = 2
max_blocks = 2
{factors}
"""
SCRIPT = """
import json, os, sys
import psycopg
given = {name: value for name, value in os.environ.items() if name.startswith(("PG", "PGASSAY"))}
assert "PGPASSWORD" not in given
with psycopg.connect(autocommit=True) as session:
    for _ in range(50):
        session.execute("SELECT count(*) FROM pgbench_branches")
mode = oct(os.stat(given["PGPASSFILE"]).st_mode & 0o777)
print("starting")
print(json.dumps({"argv": sys.argv[1:], "mode": mode, "metrics": {"rate": 12.5}, "given": given}))
"""


def spec_file(folder: Path, load: str, **more: Any) -> Path:
    path = folder / "lab.toml"
    words = {"target": "", "clients": 2, "factors": "", **more}
    path.write_text(SPEC.format(load=load, **words))
    return path


def command(*words: str) -> str:
    return f"command = {json.dumps(list(words))}"


def trial(run: Path, number: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / f"trials/{number:04d}/trial.json").read_text())
    return found


@pytest.mark.usefixtures("own_base")
def test_pgbench_as_the_command_is_counted_by_the_server_and_timed_by_its_own_log(
    tmp_path: Path,
) -> None:
    pgbench = str(embedded_installation(18).bin_directory / "pgbench")
    load = "\n".join(
        [
            command(
                pgbench, "-n", "-R", "400", "-c", "$PGASSAY_CLIENTS", "-S", "-l",
                "-T", "${PGASSAY_DURATION}",
                "--log-prefix=$PGASSAY_OUTPUT/log$PGASSAY_STEP", "--random-seed=$PGASSAY_SEED",
            ),
            'latency = { pgbench_log = "log$PGASSAY_STEP" }',
            f'warmup = "1s"\nwarmup_command = ["{pgbench}", "-n", "-S", "-R", "400", "-T", "1"]',
        ]
    )  # fmt: skip
    factors = '[reset]\nlevel = "none"\n[factors.postgres]\nsynchronous_commit = ["on", "off"]'
    spec = spec_file(tmp_path, load, clients="[1, 2]", factors=factors)
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {verdict["step"] for verdict in answer["verdicts"]} == {None, 1, 2}
    result = trial(run)["load"]
    assert [step["measured"] for step in result["steps"]] == [False, True, True]
    log = (run / "trials/0001/command.log").read_text()
    said = [
        int(line.split(": ")[1].split()[0])
        for line in log.splitlines()
        if line.startswith("number of transactions actually processed")
    ]
    for step, processed in zip(result["steps"], said, strict=True):
        # pgbench runs a few queries beside its script, and our own sessions' transactions are
        # subtracted before the server has counted all of them.
        assert abs(step["transactions"] - processed) <= 0.02 * processed + 60
    stored = RunDirectory.open(run).trial(1)
    rows = stored.table("load").to_pylist()
    assert sum(sum(row["latency_count"]) for row in rows) == sum(said[1:])
    assert result["latency_ms"]["p50"] > 0
    assert stored.table("waits").num_rows
    assert pgassay("report", run).returncode == 0


@pytest.mark.usefixtures("own_base")
def test_a_program_gets_the_trial_in_its_environment_and_may_report_its_own_figure(
    tmp_path: Path, lab_server: LabServer
) -> None:
    (tmp_path / "own.py").write_text(SCRIPT)
    load = command(sys.executable, "own.py", "$PGASSAY_CLIENTS")
    load += '\nthroughput = { json = "metrics.rate" }'
    run = tmp_path / "run"
    spec = spec_file(tmp_path, load, target=lab_server.target())
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    assert trial(run)["load"]["tps"] == pytest.approx(12.5)
    log = (run / "trials/0002/command.log").read_text()
    said = json.loads(next(line for line in log.splitlines() if line.startswith("{")))
    assert said["argv"] == ["2"]
    assert said["mode"] == oct(stat.S_IRUSR | stat.S_IWUSR)
    given = said["given"]
    assert (given["PGASSAY_TRIAL"], given["PGASSAY_DURATION"]) == ("2", "1")
    assert (given["PGUSER"], given["PGOPTIONS"]) == ("lab", "-c search_path=pgassay,public")
    assert not Path(given["PGPASSFILE"]).exists()
    for path in run.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.usefixtures("own_base")
@pytest.mark.parametrize(
    ("words", "more", "message"),
    [
        (["sh", "-c", "echo no such table >&2; exit 3"], "", "exit status 3: no such table"),
        (["sh", "-c", "kill -9 $$"], "", "SIGKILL"),
        (["sleep", "60"], 'time_limit = "300ms"', "did not end within load.time_limit (0.3 s)"),
        (["true"], 'latency = { pgbench_log = "log" }', "did pgbench get -l?"),
        (["true"], "", "not one transaction succeeded"),
    ],
)
def test_a_failing_command_is_a_failed_trial_that_shows_its_last_line(
    tmp_path: Path, lab_server: LabServer, words: list[str], more: str, message: str
) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, f"{command(*words)}\n{more}", target=lab_server.target())
    done = pgassay("run", spec, "--out", run, PGPASSWORD=SECRET)
    assert done.returncode == 2, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert message in last
    # A transaction of the server's own may count in the first trial, which then fails not.
    assert list(run.glob("trials/output-*/command.log"))


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (command("no-such-program"), "load.command: there is no program 'no-such-program' here"),
        (
            command("sh", "$PGASSAY_CLIENT"),
            "load.command: $PGASSAY_CLIENT is not a variable of pgassay; known are",
        ),
        (
            command("sh", "$PGASSAY_RATE"),
            "load.command: $PGASSAY_RATE is not a variable of pgassay",
        ),
    ],
)
def test_a_command_that_cannot_run_is_refused_before_anything_is_changed(
    tmp_path: Path, load: str, message: str
) -> None:
    for verb in ("run", "plan"):
        done = pgassay(verb, spec_file(tmp_path, load))
        assert done.returncode == 1
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("own_base")
def test_ctrl_c_ends_the_command_and_its_children(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 1000 & echo $! > children; wait"
    spec = spec_file(tmp_path, command("sh", "-c", script))
    children = tmp_path / "children"
    words = ["-m", "pgassay", "run", str(spec), "--out", str(tmp_path / "run")]
    with begin(words, session=True) as process:
        wait_until(
            lambda: process.poll() is not None or bool(children.exists() and children.read_text()),
            "the command has begun",
        )
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    child = int(children.read_text())
    wait_until(lambda: not _runs(child), "the command's child has ended")


def _runs(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
