"""A tool that is killed while it works on a cluster that it found stopped: what it has left is
undone by `recover` and by the next run, and the cluster is stopped again, as it was found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pgassay.samples.journal import open_changes
from pgassay.target.found_stopped import RUN_LOG
from support.broken_runs import (
    LOAD,
    RESET,
    WatchedRun,
    assert_nothing_open,
    postmaster_below,
    spec_file,
    watched,
)
from support.command import pgassay
from support.services import BIN
from support.stopped_clusters import MAY, ON_COPIES, RESTARTS, StoppedCluster

PHASES: dict[str, Callable[[StoppedCluster, WatchedRun], bool]] = {
    "it is starting": lambda cluster, tool: open_changes(tool.run / "journal.jsonl") != [],
    "it is up": lambda cluster, tool: cluster.is_up(),
    "its data are made": lambda cluster, tool: tool.says("building|preparing|making"),
    "a reset": lambda cluster, tool: tool.says(RESET),
    "a load": lambda cluster, tool: tool.says(LOAD),
    "it is put back": lambda cluster, tool: tool.says("restoring the server"),
}


@pytest.mark.parametrize(
    ("then", "more"),
    [("recover", ()), ("recover", ON_COPIES), ("the next run", ON_COPIES)],
    ids=["recovered", "recovered from copies", "met by the next run on copies"],
)
@pytest.mark.parametrize("phase", PHASES)
def test_a_tool_that_was_killed_is_undone_with_it_stopped_again(
    phase: str, more: tuple[str, ...], then: str, cluster: StoppedCluster, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, target=cluster.target(MAY, *more), factor=RESTARTS, step="0.4s")
    with watched(run, spec) as tool:
        tool.wait_for(lambda: PHASES[phase](cluster, tool), phase)
        tool.kill()
    if then == "recover":
        done = pgassay("recover", run)
        assert done.returncode == 0, done.stderr
        assert f"server of {cluster.data}, which was stopped" in " ".join(done.stdout.split())
    else:
        done = pgassay("run", spec, "--out", tmp_path / "next")
        assert done.returncode == 0, done.stderr
        assert_nothing_open(tmp_path / "next")
    assert_nothing_open(run)


def killed_in_a_load(cluster: StoppedCluster, folder: Path, *more: str) -> tuple[Path, Path]:
    """The spec and the directory of a run that has left settings and data behind."""
    run = folder / "run"
    spec = spec_file(folder, target=cluster.target(MAY, *more), factor=RESTARTS, step="2s")
    with watched(run, spec) as tool:
        tool.wait_for(lambda: tool.says(LOAD), "a load")
        tool.kill()
    return spec, run


def test_recover_starts_one_that_is_down_by_then_and_stops_it_again(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    _, run = killed_in_a_load(cluster, tmp_path)
    cluster.stop()
    done = pgassay("recover", run)
    assert done.returncode == 0, done.stderr
    assert_nothing_open(run)


def test_recover_takes_one_that_crashed_since_through_its_own_recovery(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    _, run = killed_in_a_load(cluster, tmp_path)
    cluster.crash()
    assert pgassay("recover", run).returncode == 0
    assert_nothing_open(run)


@pytest.mark.parametrize("log", ["hand.log", "data/pgassay-run.log"])
def test_one_that_somebody_has_started_since_is_put_back_and_left_running(
    cluster: StoppedCluster, tmp_path: Path, log: str
) -> None:
    _, run = killed_in_a_load(cluster, tmp_path)
    cluster.ctl("restart", "-m", "fast", "-l", cluster.place / log)
    theirs = log != "hand.log"
    done = pgassay("recover", run, COLUMNS="300")
    assert done.returncode == 0, done.stderr
    assert "somebody else has started it since the run did: left running" in done.stdout
    assert ("that server writes its own log to it: left there" in done.stdout) == theirs
    assert_nothing_open(run)
    assert cluster.is_up()
    cluster.stop()
    assert (cluster.data / RUN_LOG).exists() == theirs
    (cluster.data / RUN_LOG).unlink(missing_ok=True)


def test_one_that_shows_signs_of_production_by_then_is_not_stopped_by_the_next_run(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec, run = killed_in_a_load(cluster, tmp_path)
    with cluster.admin() as session:
        session.execute("SELECT pg_create_physical_replication_slot('theirs')")
        done = pgassay("run", spec, "--out", tmp_path / "next")
        assert done.returncode == 1
        assert 'write target.accept = ["slots"]' in " ".join(done.stderr.split())
        session.execute("SELECT pg_drop_replication_slot('theirs')")
    spec.write_text(spec.read_text().replace(MAY, ""))
    done = pgassay("run", spec, "--out", tmp_path / "next")
    assert done.returncode == 1
    assert "here target.allow_restart is not true, but `pgassay recover RUN` undoes it" in (
        " ".join(done.stderr.split())
    )
    assert cluster.is_up()
    assert pgassay("recover", run).returncode == 0
    assert_nothing_open(run)


@pytest.mark.parametrize("more", [(), ON_COPIES], ids=["as it is", "on a copy"])
def test_one_that_somebody_has_taken_into_use_since_is_not_stopped_or_restarted_by_the_next_run(
    more: tuple[str, ...], cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec, run = killed_in_a_load(cluster, tmp_path, *more)
    cluster.ctl("restart", "-m", "fast", "-l", cluster.place / "hand.log")
    postmaster = postmaster_below(cluster.data)
    with cluster.admin() as session:
        session.execute("SELECT pg_create_physical_replication_slot('theirs')")
        done = pgassay("run", spec, "--out", tmp_path / "next")
        assert done.returncode == 1
        assert 'write target.accept = ["slots"]' in " ".join(done.stderr.split())
        session.execute("SELECT pg_drop_replication_slot('theirs')")
    assert postmaster_below(cluster.data) == postmaster
    assert pgassay("recover", run).returncode == 0
    assert_nothing_open(run)
    if cluster.is_up():
        cluster.stop()


def made_anew(cluster: StoppedCluster) -> None:
    """Another cluster at the path of one that was put away, with the same configuration."""
    kept = cluster.data.rename(cluster.place / "kept")
    words: list[str | Path] = [BIN / "initdb", "-D", cluster.data, "-A", "trust", "-U", "lab"]
    cluster.account.require([*words, "--no-sync"], limit_s=60)
    (cluster.data / "postgresql.conf").write_bytes((kept / "postgresql.conf").read_bytes())


def test_another_cluster_that_lies_there_by_now_is_not_taken_for_it(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec, run = killed_in_a_load(cluster, tmp_path)
    cluster.stop()
    made_anew(cluster)
    spec.write_text(spec.read_text().replace("dbname=lab", "dbname=postgres"))
    files = (cluster.data / "postgresql.auto.conf").read_bytes()
    done = pgassay("recover", run, COLUMNS="900")
    assert done.returncode != 0
    assert "another cluster lies there by now, which is left as it is" in done.stderr
    assert not (cluster.data / "postmaster.opts").exists(), "it was never started"
    done = pgassay("run", spec, "--out", tmp_path / "next", COLUMNS="900")
    assert done.returncode == 0, done.stderr
    notes = [one.read_text() for one in (tmp_path / "next" / "trials").glob("*/trial.json")]
    assert sum("another cluster lies there by now" in one for one in notes) == 1
    assert_nothing_open(tmp_path / "next")
    assert not cluster.is_up()
    assert (cluster.data / "postgresql.auto.conf").read_bytes() == files
    shutil.rmtree(cluster.data)
    (cluster.place / "kept").rename(cluster.data)
    assert pgassay("recover", run).returncode == 0
    assert_nothing_open(run)


def test_one_that_was_started_to_undo_what_cannot_be_undone_is_stopped_again(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    _, run = killed_in_a_load(cluster, tmp_path)

    def renamed(old: str, new: str) -> None:
        with cluster.admin("postgres") as session:
            session.execute(f"ALTER DATABASE {old} RENAME TO {new}".encode())
        cluster.stop()

    cluster.stop()
    cluster.start()
    renamed("lab", "elsewhere")
    done = pgassay("recover", run, COLUMNS="900")
    assert done.returncode != 0
    assert 'database "lab" does not exist' in done.stderr
    assert not cluster.is_up()
    cluster.start()
    renamed("elsewhere", "lab")
    assert pgassay("recover", run).returncode == 0
    assert_nothing_open(run)
