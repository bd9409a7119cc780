"""A postmaster killed or a disk full in a trial: an existing server that may be restarted is up
again as it was found; for one that may not be, the error says what to do."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hosts.small_disk import fill, small_disk
from support.runs.broken import (
    assert_kept,
    in_the_second_trial,
    postmaster_below,
    servers_below,
    watched,
)
from support.runs.command import pgassay
from support.runs.existing import (
    SQL_ONLY,
    as_found,
    crash_for_want_of_room,
    kill_postmaster,
    stopped,
    target_of,
)
from support.servers.debian import DebianServer, debian_server
from support.servers.lab import wait_until

RESTARTED = (
    "pg_ctlcluster",
    pytest.param("command", marks=pytest.mark.heavy),
    pytest.param("ssh", marks=pytest.mark.heavy),
)


@pytest.fixture(scope="module")
def disk(servers_base: Path) -> Iterator[Path]:
    with small_disk(servers_base / "small", "450m") as folder:
        yield folder


@pytest.fixture(scope="module")
def debian(disk: Path) -> Iterator[DebianServer]:
    """On a disk that can be filled."""
    with debian_server(disk) as server:
        yield server


def assert_said(text: str, run: Path, *words: str) -> None:
    """What the tool says at its end."""
    said = " ".join(text.split())
    for one in words:
        assert one in said, text
    assert f"pgassay run --resume {run}` continues" in said, text
    assert "Traceback" not in said
    assert "an error of pgassay itself" not in said


@pytest.mark.parametrize("kind", RESTARTED)
def test_a_server_whose_postmaster_was_killed_is_up_again_as_it_was_found(
    kind: str, debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = tmp_path / "run"
    with as_found(kind, debian, request, step="2s") as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            kill_postmaster(debian)
            assert tool.end() == 2, tool.text
        assert_said(tool.text, run, "pgassay: trial 2: ", "2 of 2 connections were lost")
        assert_kept(run, kept)
        if kind == "pg_ctlcluster":
            done = pgassay("run", "--resume", run, "--json")
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["trials"] == 4
            assert_kept(run, kept)


def test_a_server_that_may_not_be_restarted_is_recovered_once_it_is_back(
    debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = tmp_path / "run"
    with as_found(SQL_ONLY, debian, request, step="2s") as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            killed = kill_postmaster(debian)
            assert tool.end() == 5, tool.text
        assert_said(tool.text, run, "is not as it was found", "DROP SCHEMA", f"recover {run}")
        wait_until(lambda: servers_below(debian.data.parent) == [], "its sessions have ended")
        wait_until(lambda: not Path(f"/proc/{killed}").exists(), "it is reaped")
        debian.ctl("start")
        assert pgassay("recover", run).returncode == 0
        assert_kept(run, kept)


@pytest.mark.parametrize("kind", [SQL_ONLY, pytest.param("pg_ctlcluster", marks=pytest.mark.heavy)])
def test_a_server_that_comes_back_by_itself_after_a_crash_is_waited_for(
    kind: str, debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = tmp_path / "run"
    with as_found(kind, debian, request, step="2s") as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            postmaster = postmaster_below(debian.data.parent)
            os.kill(max({*servers_below(debian.data.parent)} - {postmaster}), signal.SIGKILL)
            assert tool.end() == 2, tool.text
        assert_said(tool.text, run, "pgassay: trial 2: ")
        assert_kept(run, kept)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["pg_ctlcluster"])
def test_a_disk_that_was_full_for_a_moment_ends_the_run_with_the_server_as_it_was_found(
    kind: str, debian: DebianServer, tmp_path: Path, disk: Path, request: pytest.FixtureRequest
) -> None:
    run, filler = tmp_path / "run", disk / "filler"
    with as_found(kind, debian, request, step="20s") as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            with stopped(tool):
                fill(filler)
                crash_for_want_of_room(debian)
                filler.unlink()
            assert tool.end() == 2, tool.text
        assert_said(tool.text, run, "pgassay: trial 2: ")
        assert_kept(run, kept)


def test_a_server_that_a_full_disk_keeps_down_is_recovered_once_there_is_room(
    debian: DebianServer, tmp_path: Path, disk: Path, request: pytest.FixtureRequest
) -> None:
    run, filler = tmp_path / "run", disk / "filler"
    with as_found("pg_ctlcluster", debian, request, step="20s") as spec:
        try:
            with watched(run, spec) as tool:
                kept = in_the_second_trial(tool)
                fill(filler)
                crash_for_want_of_room(debian)
                assert tool.end() == 5, tool.text
            assert_said(tool.text, run, "is not as it was found", "No space left on device")
        finally:
            filler.unlink()
        done = pgassay("recover", run)
        assert done.returncode == 0, done.stderr
        assert_kept(run, kept)
        assert pgassay("recover", run).stdout == "nothing to undo\n"


HELD_START = """pg_ctlcluster 15 lab stop
while [ -e {hold} ]; do sleep 0.05; done
pg_ctlcluster 15 lab start
"""


def test_a_last_ctrl_c_in_the_final_restart_says_first_that_the_server_is_down(
    debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run, hold, script = tmp_path / "run", tmp_path / "hold", tmp_path / "restart"
    script.write_text(HELD_START.format(hold=hold))
    target = (
        target_of(SQL_ONLY, debian) + f"restart_command = 'sh {script}'\nallow_restart = true\n"
    )
    factor = "shared_buffers = ['16MB', '24MB']"
    with as_found(SQL_ONLY, debian, request, step="2s", target=target, factor=factor) as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            hold.touch()
            tool.interrupt()
            wait_until(lambda: not debian.is_up(), "the server is stopped")
            tool.interrupt()
            tool.wait_for(lambda: tool.says("the server is being restored"), "a warning")
            tool.interrupt()
            assert tool.end() == 5, tool.text
        last = " ".join(tool.text.split()).rpartition("pgassay: ")[2]
        assert last.startswith(f"the server is down; start it with `sh {script}`; stopped while")
        assert "left to undo: setting shared_buffers of" in last
        hold.unlink()
        assert pgassay("recover", run).returncode == 0
        assert_kept(run, kept)
