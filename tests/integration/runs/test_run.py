"""The main path on real servers: from a file to a verdict, and through every fault on the way."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pgassay.analysis.measures.trial import measure_trial
from pgassay.samples.run_directory import RunDirectory
from pgassay.samples.stored_parts import StoredTrial
from support.hosts.small_disk import small_disk
from support.runs import forked
from support.runs.broken import UNTOUCHED, assert_no_server_left, servers_below, spec_file
from support.runs.command import pgassay, shop_workload
from support.runs.forked import Forked, begin
from support.servers.lab import LabServer, wait_until

OTHER_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def no_server_left(own_base: Path) -> Iterator[Path]:
    """Whatever the test does, no server and no directory of a run stays behind."""
    yield own_base
    assert_no_server_left(own_base)


def clients_below(base: Path) -> int:
    """Sessions of the load on servers below a folder."""
    found = 0
    for pid in servers_below(base):
        with contextlib.suppress(psutil.Error):
            found += any(
                verb in " ".join(psutil.Process(pid).cmdline())
                for verb in ("UPDATE", "INSERT", "COMMIT", "BEGIN", "idle in transaction")
            )
    return found


@pytest.mark.usefixtures("no_server_left")
def test_a_question_is_answered_and_explained_and_everything_is_on_disk(tmp_path: Path) -> None:
    # With its two steps a trial is longer than the samples stay in the sampler.
    how = {"rate": "", "clients": "[1, 4]", "factor": 'max_wal_size = ["32MB", "1GB"]'}
    spec, run = spec_file(tmp_path, step="2.4s", **how), tmp_path / "run"
    with spec.open("a") as file:
        file.write('[settings.postgres]\ntrack_io_timing = "off"\n')
    done = pgassay("run", spec, "--out", run, "--json", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["schema"] == "pgassay.run/1"
    assert (answer["blocks"], answer["trials"]) == (2, 4)
    verdicts = {v["step"]: v for v in answer["verdicts"]}
    assert set(verdicts) == {None, 1, 4}
    for verdict in verdicts.values():
        assert (verdict["metric"], verdict["factor"]) == ("tps", "max_wal_size")
        assert verdict["verdict"] in ("better", "worse", "negligible", "equivalent", "undecided")
    assert {path.name for path in run.iterdir()} >= {
        "spec.toml", "plan.json", "environment.json", "workload.json", "journal.jsonl",
        "analysis.json", "report.html", "trials",
    }  # fmt: skip
    (accounting,) = answer["accounting"]
    whole, parts = accounting["whole"], accounting["parts"]
    assert {"cpu", "client", "unaccounted"} <= {part["name"] for part in parts}
    for key in ("baseline_ms", "level_ms", "difference_ms"):
        assert round(sum(part[key] for part in parts), 6) == whole[key]
    # Nothing of the classic view needs more than its own server and host have.
    classic = json.loads((run / "analysis.json").read_text())["classic"]
    assert [arm["trials"] for arm in classic["arms"]] == [2, 2]
    for arm in classic["arms"]:
        spreads = {one["name"]: one["median"] for one in arm["figures"]}
        assert spreads["speed"] > spreads["commits"] > 0.0
        assert None not in spreads.values()
        assert arm["statements_per_minute"] > 0.0
        assert arm["buffers"]["load"] in ("OLTP", "OLAP")
        assert None not in [one["share_pct"] for one in arm["rules"]]
    environment_is_complete(json.loads((run / "environment.json").read_text()))
    # Its own server hides nothing but what the experiment says.
    not_measured = {one["name"]: one["fix"] for one in answer["not_seen"]}
    assert not_measured == {"I/O timing": 'track_io_timing = "on" in [settings.postgres]'}
    samples_explain(list(RunDirectory.open(run).trials()))
    methods_are_filled(json.loads((run / "analysis.json").read_text())["methods"])
    commands: list[list[str | Path]] = [
        ["report", run], ["show", run], ["list", tmp_path], ["report", run, "--format", "md"],
    ]  # fmt: skip
    shown = [pgassay(*command) for command in commands]
    assert [one.returncode for one in shown] == [0] * 4, [one.stderr for one in shown]
    assert all("Does it survive?" in one.stdout for one in (*shown[:2], shown[3]))
    assert str(run) in shown[2].stdout
    assert "I/O timing" in " ".join(shown[1].stdout.split()).partition("not measured: ")[2]
    assert "track_io_timing is off" in shown[-1].stdout


def environment_is_complete(environment: dict[str, Any]) -> None:
    """Every setting with its source, the sizes of tables, the host's memory settings."""
    every = environment["server"]["every_setting"]
    assert len(every) > 300
    assert every["seq_page_cost"] == {"value": "1", "source": "default"}
    assert every["log_checkpoints"]["file"].rpartition(":")[2].isdigit()
    (sizes,) = environment["sizes"].values()
    assert {one["kind"] for one in sizes["largest"]} == {"table", "index"}
    assert 0 < sum(one["size_bytes"] for one in sizes["largest"]) < sizes["total_bytes"]
    assert "kbytes" in " ".join(environment["host"]["vm"])
    assert 0.0 <= environment["other_programs"]["processors"] <= 1.0


def methods_are_filled(cells: list[dict[str, Any]]) -> None:
    """USE, RED and LTES have a figure in every cell, or say what this kernel or server lacks."""
    no_figure = {one["title"]: one["not_measured"] for one in cells if not one["figures"]}
    if not Path("/proc/pressure").is_dir():
        no_figure = {title: why for title, why in no_figure.items() if "(PSI)" not in title}
    never = {
        "Machine checks",
        "Failed requests",
        "Share of locks held",
        "Waiting to begin, per transaction",
    }
    idle = {title for title, why in no_figure.items() if why == "nothing of this kind was done"}
    assert set(no_figure) - idle == never
    # The server's files are in memory: what the disk does, others ask of it.
    assert idle <= {
        "Mean time of a read",
        "Mean time of a write",
        "Mean time of a flush",
        "Checkpoints begun before their time, of all",
    }
    assert {one["of"] for one in cells if one["method"] == "red"} == {
        "payment",
        "transfer",
        "balance",
    }
    kinds = {one["kind"] for one in cells if one["method"] == "ltes"}
    assert kinds == {"latency", "traffic", "errors", "saturation"}
    by_title = {(one["of"], one["title"]): one["figures"] for one in cells}
    for arm in range(2):
        assert 0 < by_title["CPU", "Processors busy"][arm]["mean"] <= 100
        assert 0 < by_title["Memory", "Memory in use"][arm]["mean"] < 100
        assert by_title["Buffers and WAL", "WAL written"][arm]["mean"] > 1000
        assert by_title["payment", "Transactions"][arm]["mean"] > 10
        assert by_title["", "Throughput"][arm]["mean"] > 50


def samples_explain(trials: list[StoredTrial]) -> None:
    """WAL, waits by scenario, checkpoints and the host's figures are there and fit the load."""
    for trial in trials:
        summary = trial.summary()
        assert summary.reset.given["settings"]["max_wal_size"] in ("32MB", "1GB")
        names = {"payment", "transfer", "balance"}
        assert {s["name"] for s in summary.load.given["scenarios"]} == names
        ticks = trial.table("waits")["tick_ns"].to_pylist()
        assert ticks == sorted(ticks)
        values = measure_trial(trial).whole.values
        assert values["tps"] > 50
        assert values["wal_bytes_per_tx"] > 200
        assert "wal_fpi_per_tx" in values
        assert values["host_cpu_ms_per_tx"] > 0
        assert values["latency_p99"] >= values["latency_p50"] > 0
        waiting = sum(v for name, v in values.items() if name.startswith("wait_"))
        assert 0.3 * values["latency_mean"] < waiting < 3 * values["latency_mean"]
        assert waiting + values["unaccounted_ms_per_tx"] == pytest.approx(values["latency_mean"])
        scenarios = set(trial.table("waits")["scenario"].to_pylist()) - {None}
        assert "payment" in scenarios <= names
    small = [t for t in trials if t.summary().levels["max_wal_size"] == "32MB"]
    assert any(t.table("checkpoints").num_rows for t in small)


@contextlib.contextmanager
def begun(run: Path) -> Iterator[Forked]:
    """A run in a separate process group, as a terminal would start it, after its first trial."""
    spec = spec_file(run.parent, blocks=6, target=UNTOUCHED)
    with begin(["-m", "pgassay", "run", str(spec), "--out", str(run)], session=True) as process:
        wait_until(
            lambda: process.poll() is not None or any((run / "trials").glob("[0-9]*")),
            "a finished trial",
        )
        assert process.poll() is None, process.communicate()[1]
        yield process


@pytest.mark.usefixtures("no_server_left")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(n, marks=pytest.mark.heavy) for n in OTHER_SIGNALS)]
)
def test_an_interruption_restores_keeps_finished_trials_and_says_so(
    tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "run"
    with begun(run) as process:
        os.killpg(process.pid, number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    kept = len(list((run / "trials").glob("[0-9]*")))
    assert kept >= 1
    assert re.search(
        rf"{kept} finished trials? kept; `pgassay report {re.escape(str(run))}`", errors
    )
    assert errors.rstrip().endswith("pgassay: stopped")
    assert "Traceback" not in errors
    assert pgassay("report", run).returncode == 0


@pytest.mark.usefixtures("no_server_left")
def test_a_closed_terminal_ends_the_run_as_an_interruption(tmp_path: Path) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, target=UNTOUCHED)
    words = [sys.executable, "-m", "pgassay", "run", str(spec), "--out", str(run)]
    terminal, slave = pty.openpty()
    os.set_blocking(terminal, False)

    def has_finished_a_trial() -> bool:
        with contextlib.suppress(BlockingIOError):
            os.read(terminal, 65536)
        return any((run / "trials").glob("[0-9]*"))

    with subprocess.Popen(words, stderr=slave, start_new_session=True) as process:
        os.close(slave)
        wait_until(has_finished_a_trial, "a finished trial")
        process.send_signal(signal.SIGSTOP)  # it writes nothing between the two
        os.close(terminal)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=60) == 130


SWALLOWED = """
import os, signal, sys, weakref
import pgassay.trials.run.block as block
from pgassay.cli.main import main

run_trials, Mark = block.run_trials, type("Mark", (), {})

def run(trials, context, **how):
    done = run_trials(trials, context, **how)
    if trials[0].number == 2:
        mark = Mark()
        finding = weakref.ref(mark, lambda _: os.kill(os.getpid(), signal.SIGHUP))
        del mark
        print("the exception was discarded", file=sys.stderr)
    return done

block.run_trials = run
main()
"""


@pytest.mark.usefixtures("no_server_left")
def test_an_interruption_that_python_discards_ends_the_run_too(tmp_path: Path) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, blocks=6, target=UNTOUCHED)
    done = forked.run(["-c", SWALLOWED, "run", str(spec), "--out", str(run)], timeout=120)
    assert "the exception was discarded" in done.stderr
    assert "Exception ignored in" not in done.stderr
    assert done.returncode == 130, done.stderr
    assert f"2 finished trials kept; `pgassay report {run}`" in done.stderr


def test_a_server_that_dies_in_a_trial_ends_the_run_and_its_trial_does_not_count(
    tmp_path: Path, no_server_left: Path
) -> None:
    run = tmp_path / "run"
    with begun(run) as process:
        # On a busy machine a load may have ended before its server is killed: then the next one.
        while process.poll() is None:
            wait_until(
                lambda: process.poll() is not None or clients_below(no_server_left) > 0, "a load"
            )
            for pid in servers_below(no_server_left):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 2
    last = errors.strip().splitlines()[-1]
    assert last.startswith("pgassay: trial ")
    assert "Traceback" not in errors
    for trial in (run / "trials").iterdir():
        load = json.loads((trial / "trial.json").read_text())["load"]
        assert load["lost_connections"] == 0


@pytest.mark.usefixtures("no_server_left")
def test_a_setting_the_server_will_not_start_with_is_one_clear_line(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, factor='huge_pages = ["off", "on"]')
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("pgassay: trial ")
    assert "huge_pages" in last
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("no_server_left")
def test_a_script_against_a_missing_table_ends_with_code_two_and_the_servers_words(
    tmp_path: Path,
) -> None:
    shop_workload(tmp_path, "SELECT * FROM itme;\n")
    done = pgassay("run", spec_file(tmp_path, use="shop"), "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "42P01" in done.stderr
    assert "itme" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("no_server_left")
def test_a_full_disk_ends_the_run_and_keeps_what_was_whole(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "200k") as disk:
        done = pgassay(
            "run", spec_file(tmp_path, blocks=20, target=UNTOUCHED), "--out", disk / "run"
        )
        assert done.returncode == 2, done.stderr
        assert (
            "the disk is full; free some space or put the run elsewhere with --out" in done.stderr
        )
        assert "Traceback" not in done.stderr
        kept = list((disk / "run" / "trials").iterdir())
        assert kept
        assert all((trial / "trial.json").is_file() for trial in kept)


@pytest.mark.usefixtures("own_base")
def test_an_existing_server_is_measured_and_left_as_it_was(
    tmp_path: Path, lab_server: LabServer
) -> None:
    with lab_server.admin() as session:
        before = session.execute("TABLE pg_file_settings").fetchall()
    factor = 'synchronous_commit = ["on", "off"]'
    spec = spec_file(tmp_path, target=lab_server.target("allow_changes = true"), factor=factor)
    run = tmp_path / "run"
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD="s3cret word")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    with lab_server.admin() as session:
        assert session.execute("TABLE pg_file_settings").fetchall() == before
        assert session.execute(
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'pgassay'"
        ).fetchone() == (0,)
    for path in run.rglob("*"):
        if path.is_file():
            assert b"s3cret" not in path.read_bytes(), path
