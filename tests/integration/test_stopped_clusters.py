"""A cluster named by its data directory: taken as it runs, or started for the run and stopped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pgassay.samples.journal import open_changes
from pgassay.target.account import Account
from pgassay.target.found_stopped import RUN_LOG
from pgassay.target.service_control import START_LOG
from support.broken_runs import (
    LOAD,
    assert_nothing_open,
    postmaster_below,
    postmasters_below,
    spec_file,
    watched,
)
from support.command import last_line, pgassay
from support.servers import is_root
from support.services import BIN
from support.stopped_clusters import (
    MAY,
    ON_COPIES,
    RESTARTS,
    StoppedCluster,
    left_stopped,
    stopped_cluster,
)

UNDER_LOAD = r"(?s)trial 1 (?:(?!trial|warm-up).)*\b2 clients "


def as_its_owner(
    cluster: StoppedCluster, home: Path, *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """`pgassay ARGUMENTS` under the cluster's account; the interpreter may lie in root's home."""
    account, reads = cluster.account, "+dac_read_search"
    words = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
    words += [f"--inh-caps={reads}", f"--ambient-caps={reads}", "--", sys.executable]
    own = {
        "HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "300",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PGASSAY_GUARDS": os.environ["PGASSAY_GUARDS"],
    }  # fmt: skip
    return subprocess.run(
        [*words, "-m", "pgassay", *map(str, arguments)],
        env=own, cwd=home, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("factor", "more"),
    [
        ('work_mem = ["5MB", "9MB"]', ()),
        (RESTARTS, ()),
        (RESTARTS, ON_COPIES),
    ],
)
def test_a_run_starts_it_and_leaves_it_stopped_as_it_was_found(
    factor: str, more: tuple[str, ...], cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY, *more), factor=factor)
    done = pgassay("run", spec, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    assert_nothing_open(tmp_path / "run")


def test_its_owner_may_do_it_too(cluster: StoppedCluster, servers_base: Path) -> None:
    if not is_root() or shutil.which("setpriv") is None:
        pytest.skip("only root takes on another account")
    home = Path(tempfile.mkdtemp(prefix="owner-", dir=servers_base))
    shutil.chown(home, cluster.account.uid, cluster.account.gid)
    spec = spec_file(home, target=cluster.target(MAY), factor=RESTARTS)
    done = as_its_owner(cluster, home, "run", spec, "--out", home / "run")
    assert done.returncode == 0, done.stderr
    assert_nothing_open(home / "run")
    shutil.rmtree(home)


def test_one_that_runs_needs_no_address_and_goes_on_running(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    cluster.start()
    postmaster = postmaster_below(cluster.data)
    spec = spec_file(tmp_path, target=cluster.target())
    planned = pgassay("plan", spec, COLUMNS="300")
    assert f"{cluster.sockets}" in planned.stdout.partition("\nserver ")[2], planned.stdout
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert postmaster_below(cluster.data) == postmaster
    cluster.stop()


def test_plan_and_doctor_say_that_it_is_stopped_and_start_nothing(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY, *ON_COPIES), factor=RESTARTS)
    before = (cluster.data / "postmaster.opts").stat().st_mtime_ns
    planned = pgassay("plan", spec, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    for words in (
        f"server    {cluster.sockets}:{cluster.port} (stopped), PostgreSQL 15",
        "stopped: nothing was started to look closer; only in the run, before its first trial",
        "later     whether the user is let in, and signs of production",
        "later     whether there is room for the copies, and whether anybody follows the server",
        f"change    server: `{BIN}/pg_ctl start -D {cluster.data}`, for it is stopped; stopped"
        " again at the end, also after Ctrl-C or an error (-m fast); first, and last",
        "change    server: shared_buffers: 128MB / 64MB in the run; reload or restart",
    ):
        assert words in planned.stdout, planned.stdout
    assert "stops:" not in planned.stdout
    seen = json.loads(pgassay("plan", spec, "--json").stdout)["server"]
    assert seen["stopped"] is True
    assert len(seen["later"]) == 4
    unseen = pgassay("doctor", "-h", cluster.sockets, "-p", str(cluster.port), COLUMNS="300")
    assert "is stopped is named by its data directory: --data DIR --bin DIR" in unseen.stdout
    checked = pgassay("doctor", "--data", cluster.data, "--bin", BIN, COLUMNS="300")
    assert checked.returncode == 0, checked.stdout
    assert "stopped (pg_control: shut down)" in checked.stdout
    assert f"target.data = '{cluster.data}' with target.bin names it" in checked.stdout
    assert (cluster.data / "postmaster.opts").stat().st_mtime_ns == before


def test_without_the_leave_to_restart_it_is_not_started(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target())
    told = (
        f"target.data: the server of {cluster.data} on this host is stopped; start it, or let the"
        " run start it and stop it again at its end: target.allow_restart = true"
    )
    assert f"stops: {told}" in pgassay("plan", spec, COLUMNS="300").stdout
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert last_line(done.stderr) == f"pgassay: {told}"


def test_a_wrong_user_is_told_at_once_and_leaves_it_stopped(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY, dsn="user=nobody_here dbname=lab"))
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert 'role "nobody_here" does not exist' in last_line(done.stderr)


def test_a_configuration_that_keeps_it_down_is_told_in_the_servers_words(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY))
    with cluster.kept_down():
        done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "the server did not start: " in last_line(done.stderr)
    assert "pg_hba.conf" in last_line(done.stderr)


@pytest.fixture
def collecting(
    servers_base: Path, account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[StoppedCluster]:
    """One whose log goes to files of the logging collector."""
    with stopped_cluster(servers_base, account) as cluster:
        with (cluster.data / "postgresql.conf").open("a") as file:
            file.write("logging_collector = on\n")
        cluster.start()
        cluster.stop()
        with left_stopped(cluster, monkeypatch, tmp_path):
            yield cluster


def test_with_a_collector_its_words_are_told_too_and_no_file_is_left(
    collecting: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=collecting.target(MAY))
    with collecting.kept_down():
        done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "the server did not start: could not load pg_hba.conf" in last_line(done.stderr)
    assert_nothing_open(tmp_path / "run")


def test_killed_while_one_with_a_collector_starts_no_file_is_left(
    collecting: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=collecting.target(MAY))
    with watched(tmp_path / "run", spec) as tool:
        tool.wait_for((collecting.data / START_LOG).exists, "it is starting")
        tool.kill()
    assert (collecting.data / START_LOG).exists()
    done = pgassay("recover", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_nothing_open(tmp_path / "run")


def test_a_crashed_cluster_is_refused_with_what_to_do(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY))
    cluster.start()
    cluster.crash()
    for done in (
        pgassay("plan", spec, COLUMNS="300"),
        pgassay("run", spec, "--out", tmp_path / "run", COLUMNS="300"),
    ):
        said = " ".join((done.stdout + done.stderr).split())
        assert "was not shut down (pg_control: in production) and no server runs in it" in said
        assert "start it by hand, read its log, then name it again" in said
    assert postmasters_below(cluster.data) == []
    cluster.start()
    cluster.stop()


def test_stopped_by_somebody_in_a_trial_it_is_told_and_put_back(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY), step="2s")
    with watched(tmp_path / "run", spec) as tool:
        tool.wait_for(lambda: tool.says(LOAD), "a load")
        cluster.stop()
        assert tool.end() == 2, tool.text
    assert "connections were lost" in " ".join(tool.text.split())
    assert_nothing_open(tmp_path / "run")


def test_restarted_by_somebody_in_a_trial_it_is_theirs_and_told(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY), step="2s")
    with watched(tmp_path / "run", spec) as tool:
        tool.wait_for(lambda: tool.says(LOAD), "a load")
        cluster.ctl("restart", "-m", "fast", "-l", cluster.place / "hand.log")
        assert tool.end() == 5, tool.text
    assert "somebody else has started it since the run did: left running" in tool.text
    assert_nothing_open(tmp_path / "run")
    assert cluster.is_up()
    assert not (cluster.data / RUN_LOG).exists()
    cluster.stop()


def test_a_second_run_beside_a_living_one_is_refused(
    cluster: StoppedCluster, tmp_path: Path
) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY), factor=RESTARTS, step="3s")
    with watched(tmp_path / "run", spec) as tool:
        tool.wait_for(lambda: tool.says(UNDER_LOAD), "a load")
        done = pgassay("run", spec, "--out", tmp_path / "second")
        assert done.returncode == 1
        assert "another pgassay run" in last_line(done.stderr)
        tool.interrupt()
        assert tool.end() == 130, tool.text


def test_ctrl_c_while_it_starts_leaves_it_stopped(cluster: StoppedCluster, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, target=cluster.target(MAY))
    with watched(tmp_path / "run", spec) as tool:
        journal = tmp_path / "run" / "journal.jsonl"
        tool.wait_for(lambda: open_changes(journal) != [], "the start is journalled")
        tool.interrupt()
        assert tool.end() == 130, tool.text
    assert_nothing_open(tmp_path / "run")


def test_nothing_of_it_runs_on_when_this_is_over(at_rest: StoppedCluster) -> None:
    assert not [one for one in psutil.process_iter() if str(at_rest.place) in " ".join(_words(one))]


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []
