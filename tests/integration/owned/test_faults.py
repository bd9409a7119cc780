"""Faults of servers and disks in a run: servers as found, trials kept, one clear line."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgassay.samples.run_directory import RunDirectory
from pgassay.server.owned.installation import Installation
from support.hosts.small_disk import fill, remount, small_disk
from support.runs.broken import (
    assert_kept,
    assert_no_server_left,
    assert_nothing_open,
    in_the_second_trial,
    postmaster_below,
    prints_of,
    servers_below,
    spec_file,
    watched,
)
from support.runs.command import last_line, pgassay, shop_workload
from support.servers.lab import SECRET, LabServer, installation_named, wait_until

ALLOWED = "allow_changes = true"
KEPT = "[reset]\nlevel = 'none'"
"""Data that no trial begins with anew."""


@pytest.fixture(scope="module")
def server_installation() -> Installation:
    return installation_named("embedded-18")


@pytest.fixture
def no_server_left(own_base: Path) -> Iterator[Path]:
    yield own_base
    assert_no_server_left(own_base)


@pytest.fixture
def found(lab_server: LabServer) -> Iterator[Path]:
    """postgresql.auto.conf of a server that the test must leave as it was."""
    path = lab_server.cluster.workspace.data / "postgresql.auto.conf"
    with lab_server.admin() as session:
        session.execute("ALTER SYSTEM SET work_mem = '6MB'")
        session.execute("SELECT pg_reload_conf()")
    before = path.read_bytes()
    yield path
    with lab_server.admin() as session:
        here = session.execute("SELECT to_regnamespace('pgassay')").fetchone()
    assert (path.read_bytes(), here) == (before, (None,))


def test_a_postmaster_killed_in_a_trial_ends_the_run_which_can_be_resumed(
    tmp_path: Path, no_server_left: Path
) -> None:
    run = tmp_path / "run"
    with watched(run, spec_file(tmp_path, target=KEPT, step="1.5s")) as tool:
        kept = in_the_second_trial(tool)
        os.kill(postmaster_below(no_server_left), signal.SIGKILL)
        assert tool.end() == 2
    assert "pgassay: trial 2: " in tool.text
    assert f"`pgassay run --resume {run}` continues" in tool.text
    assert "Traceback" not in tool.text
    assert_kept(run, kept)
    assert_no_server_left(no_server_left)
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    assert_kept(run, kept)


def test_a_killed_backend_is_reported_in_the_words_of_the_servers_log(
    tmp_path: Path, no_server_left: Path
) -> None:
    with watched(tmp_path / "run", spec_file(tmp_path, target=KEPT, step="1.5s")) as tool:
        in_the_second_trial(tool)
        backends = set(servers_below(no_server_left)) - {postmaster_below(no_server_left)}
        os.kill(max(backends), signal.SIGKILL)
        assert tool.end() == 2
    assert re.search(r"the server's log says: .*was terminated by signal 9: Killed", tool.text)


@pytest.mark.usefixtures("no_server_left")
def test_a_setting_that_keeps_the_server_down_is_named_with_the_servers_reason(
    tmp_path: Path,
) -> None:
    factor = 'shared_preload_libraries = ["", "not_there"]'
    words = 'could not access file "not_there": No such file or directory'
    run = tmp_path / "run"
    done = pgassay("run", spec_file(tmp_path, factor=factor), "--out", run)
    assert done.returncode == 2, done.stderr
    assert last_line(done.stderr).startswith("pgassay: trial ")
    assert factor.split(" ")[0] in last_line(done.stderr)
    assert words in last_line(done.stderr)
    if run.exists():  # the arm that does start came first
        assert_nothing_open(run)


@pytest.mark.parametrize(
    ("size", "target", "where"),
    [
        pytest.param("30m", "", "initdb failed: ", marks=pytest.mark.heavy),
        pytest.param(
            "60m", "", "building payments-write at scale 1: data.sql: ", marks=pytest.mark.heavy
        ),
        ("100m", "", "could not be copied: "),
        ("110m", KEPT, "2 of 2 connections were lost"),
    ],
)
def test_a_full_disk_of_the_server_ends_the_run_and_frees_the_disk(
    tmp_path: Path,
    own_base: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: str,
    target: str,
    where: str,
) -> None:
    run = tmp_path / "run"
    with small_disk(own_base / "disk", size) as disk:
        monkeypatch.setenv("PGASSAY_DATA", str(disk))
        factor = 'max_wal_size = ["1GB", "2GB"]'
        spec = spec_file(tmp_path, target=target, factor=factor, step="50s", rate="")
        done = pgassay("run", spec, "--out", run)
        # How much a machine writes in a trial is not known, so neither is which one fills the disk.
        in_a_trial = last_line(done.stderr).startswith("pgassay: trial ")
        assert in_a_trial == ("connections" in where)
        assert done.returncode == (2 if in_a_trial else 1), done.stderr
        assert where in last_line(done.stderr)
        assert "No space left on device" in last_line(done.stderr)
        assert "an error of pgassay itself" not in done.stderr
        assert [path.name for path in disk.iterdir() if path.name.startswith("run-")] == []
    if run.exists():
        assert_nothing_open(run)


def test_a_workload_that_the_server_refuses_is_reported_with_its_file_and_line(
    tmp_path: Path, no_server_left: Path
) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;\n")
    (folder / "data.sql").write_text("SELECT 1;\nINSERT INTO itme VALUES (1);\n")
    spec = tmp_path / "shop.toml"
    spec.write_text("[workload]\nuse = 'shop'\n")
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert last_line(done.stderr) == (
        'pgassay: building shop at scale 1: data.sql, line 2: relation "itme" does not exist'
    )
    del no_server_left


def test_a_run_directory_that_fills_up_does_not_keep_the_server_from_being_restored(
    tmp_path: Path, lab_server: LabServer, found: Path
) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        run = disk / "run"
        spec = spec_file(tmp_path, target=lab_server.target(ALLOWED), step="1.5s")
        with watched(run, spec, PGPASSWORD=SECRET) as tool:
            kept = in_the_second_trial(tool)
            fill(disk / "filler")
            assert tool.end() == 2
        assert "the disk is full; free some space" in tool.text
        assert prints_of(run, tool.finished()) == kept
        (disk / "filler").unlink()
        assert pgassay("recover", run, PGPASSWORD=SECRET).returncode == 0
        assert_kept(run, kept)
    del found


@pytest.mark.parametrize("kind", ["owned", pytest.param("existing", marks=pytest.mark.heavy)])
def test_a_run_directory_that_becomes_read_only_ends_the_run_and_restores_the_server(
    tmp_path: Path, lab_server: LabServer, found: Path, no_server_left: Path, kind: str
) -> None:
    with small_disk(tmp_path / "disk", "50m") as disk:
        run = disk / "run"
        target = lab_server.target(ALLOWED) if kind == "existing" else KEPT
        spec = spec_file(tmp_path, target=target, step="1.5s")
        with watched(run, spec, PGPASSWORD=SECRET) as tool:
            kept = in_the_second_trial(tool)
            remount(disk, "ro")
            assert tool.end() == 2
        assert "cannot be written: Read-only file system" in tool.text
        assert "Traceback" not in tool.text
        assert_no_server_left(no_server_left)
        remount(disk, "rw")
        words: list[str | Path] = ["run", "--resume", run, "--json"]
        if kind == "existing":
            # The server is as found, and the own record empty; only the journal could not say so.
            asked = pgassay(*words, PGPASSWORD=SECRET)
            assert asked.returncode == 1
            assert "are not in your own record" in last_line(asked.stderr)
            words.append("--yes")
        done = pgassay(*words, PGPASSWORD=SECRET)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["trials"] == 4
        assert_kept(run, kept)
    del found


def test_a_read_only_disk_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        remount(disk, "ro")
        done = pgassay("run", spec_file(tmp_path), "--out", disk / "run")
    assert done.returncode == 1
    assert "cannot be written: Read-only file system" in last_line(done.stderr)


@pytest.mark.usefixtures("found", "own_base")
def test_lost_connections_end_the_run_and_the_server_is_restored(
    tmp_path: Path, lab_server: LabServer
) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, target=lab_server.target(ALLOWED), step="1.5s")
    with watched(run, spec, PGPASSWORD=SECRET) as tool:
        kept = in_the_second_trial(tool)
        with lab_server.admin() as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE usename = 'lab' AND pid <> pg_backend_pid()"
            )
        assert tool.end() == 2
    assert "connections were lost" in tool.text
    assert_kept(run, kept)
    # The trial is run again, and that it was is not forgotten.
    (failed,) = RunDirectory(run).failed()
    assert (failed.number, failed.block) == (2, 1)
    done = pgassay("run", "--resume", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    found = json.loads((run / "analysis.json").read_text())["warnings"]
    (caveat,) = [one for one in found if one["note"]["code"] == "analysis/verdicts/failed-trials"]
    values = caveat["note"]["values"]
    assert values["n"] == 1
    assert [one["values"]["count"] for one in values["by_arm"]["values"]["items"]] == [1]
    assert "connections were lost" in caveat["text"]


@pytest.mark.usefixtures("found", "own_base")
def test_a_server_that_stays_away_is_restored_by_recover_when_it_is_back(
    tmp_path: Path, lab_server: LabServer
) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, target=lab_server.target(ALLOWED), step="2s")
    with watched(run, spec, PGPASSWORD=SECRET) as tool:
        kept = in_the_second_trial(tool)
        lab_server.cluster.stop(gently=False)
        status = tool.end()
    lab_server.cluster.start()
    assert status == 5
    assert "is not as it was found" in tool.text
    assert "ALTER SYSTEM SET \"work_mem\" = '6MB'" in tool.text
    assert f"pgassay recover {run} does it" in tool.text
    assert pgassay("recover", run, PGPASSWORD=SECRET).returncode == 0
    assert_kept(run, kept)


@pytest.mark.usefixtures("found", "own_base")
def test_a_second_run_against_a_server_is_refused_while_the_first_runs_and_not_after(
    tmp_path: Path, lab_server: LabServer
) -> None:
    run, second = tmp_path / "run", tmp_path / "second"
    spec = spec_file(tmp_path, target=lab_server.target(ALLOWED), step="20s")
    with watched(run, spec, PGPASSWORD=SECRET) as tool:
        tool.wait_for(lambda: tool.says("warm-up, "), "a load")
        refused = pgassay("run", spec, "--out", second, PGPASSWORD=SECRET)
        assert refused.returncode == 1
        assert "another pgassay run is using this server" in last_line(refused.stderr)
        assert not second.exists()
        for command in (["recover"], ["run", "--resume"]):
            alive = pgassay(*command, run, PGPASSWORD=SECRET)
            assert alive.returncode == 1
            assert "its run is alive; wait for it to end" in last_line(alive.stderr)
        tool.kill()
    assert pgassay("recover", run, PGPASSWORD=SECRET).returncode == 0


@pytest.mark.usefixtures("found", "own_base")
@pytest.mark.parametrize("presses", [2, 3])
def test_ctrl_c_twice_names_the_changes_left_and_a_third_one_leaves_them_to_recover(
    tmp_path: Path, lab_server: LabServer, presses: int
) -> None:
    run = tmp_path / "run"
    spec = spec_file(tmp_path, target=lab_server.target(ALLOWED), step="4s")
    there = f"127.0.0.1:{lab_server.port}"
    left = f"left to undo: schema pgassay of database lab at {there}; pgassay recover {run} does it"
    with watched(run, spec, PGPASSWORD=SECRET) as tool, lab_server.admin() as other:
        in_the_second_trial(tool)
        with other.transaction():
            # The schema cannot be dropped while somebody reads one of its tables.
            other.execute("LOCK TABLE pgassay.account IN ACCESS SHARE MODE")
            tool.interrupt()
            tool.wait_for(lambda: tool.says("restoring the server"), "restoring")
            wait_until(lambda: waits_for_a_lock(lab_server), "the DROP SCHEMA")
            tool.interrupt()
            tool.wait_for(lambda: left in tool.text, "what is left to do")
            assert tool.process.poll() is None
            if presses == 3:
                tool.interrupt()
                assert tool.end() == 5
        assert tool.end() == (130 if presses == 2 else 5)
    if presses == 3:
        assert f"stopped while restoring; {left}" in tool.text
        assert pgassay("recover", run, PGPASSWORD=SECRET).returncode == 0
    assert_nothing_open(run)


def waits_for_a_lock(server: LabServer) -> bool:
    with server.admin() as session:
        row = session.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DROP SCHEMA%'"
            " AND wait_event_type = 'Lock'"
        ).fetchone()
    return row == (1,)
