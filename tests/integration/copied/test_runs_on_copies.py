"""`pgassay plan`, `run` and `recover` with trials on a copy of an existing server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.runs.broken import LOAD, assert_no_server_left, assert_nothing_open, spec_file, watched
from support.runs.command import pgassay
from support.runs.killed_at_phase import At, Phase, killed, when_said
from support.servers.debian import DebianServer
from support.servers.lab import scalar

TAKING = "pgassay.server.copied.base_backup:_run"
PHASES: dict[str, Phase] = {
    "copying": At(TAKING, "after", 1),
    "load": when_said(LOAD, later=True),
}


@pytest.fixture
def server(debian: DebianServer) -> Iterator[DebianServer]:
    """It must be as it was afterwards: not restarted, its files and settings the same."""
    started, files = debian.started_at(), files_of(debian)
    with debian.admin() as session:
        objects = scalar(session, "SELECT count(*) FROM pg_class")
    yield debian
    assert (debian.started_at(), files_of(debian)) == (started, files)
    with debian.admin() as session:
        assert scalar(session, "SELECT count(*) FROM pg_class") == objects
        assert scalar(session, "SELECT count(*) FROM pg_stat_replication") == 0


def files_of(server: DebianServer) -> dict[str, str]:
    """Its configuration with contents, and the names in its data directory."""
    found = {str(path): path.read_text() for path in server.conf.rglob("*.conf")}
    return found | {path.name: "" for path in server.data.iterdir()}


def spec_of(folder: Path, server: DebianServer) -> Path:
    target = (
        f"[target]\ndsn = '{server.dsn()}'\naccept = ['commits', 'sessions']\n"
        "backup_checkpoint = 'fast'\nbackup_rate = '1GB'\n"
        "[reset]\nlevel = 'snapshot'"
    )
    return spec_file(folder, target=target, step="0.3s")


def test_a_plan_says_what_is_copied_and_that_the_server_is_left_alone(
    server: DebianServer, tmp_path: Path, own_base: Path
) -> None:
    spec = spec_of(tmp_path, server)
    text = " ".join(pgassay("plan", spec, COLUMNS="500").stdout.split())
    assert "a server started by pgassay, on a base backup of an existing one" in text
    assert "nothing is written to it, and it is neither restarted nor reconfigured" in text
    assert "2 copies of " in text
    assert f"in {own_base}" in text
    assert "/usr/lib/postgresql/15/bin" in text
    planned = json.loads(pgassay("plan", spec, "--json").stdout)
    assert planned["server"]["refusals"] == []
    assert list(own_base.iterdir()) == []


def test_a_run_answers_on_a_copy_and_leaves_nothing(
    server: DebianServer, tmp_path: Path, own_base: Path
) -> None:
    run = tmp_path / "run"
    done = pgassay("run", spec_of(tmp_path, server), "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    environment = json.loads((run / "environment.json").read_text())
    assert environment["target"] == "copied"
    trial = json.loads((run / "trials" / "0001" / "trial.json").read_text())
    assert trial["reset"]["level"] == "snapshot"
    assert trial["reset"]["restarted"]
    assert_no_server_left(own_base)
    assert_nothing_open(run)


@pytest.mark.parametrize(
    ("phase", "then"),
    [
        ("copying", "next run"),
        ("load", "recover"),
        pytest.param("copying", "recover", marks=pytest.mark.heavy),
        pytest.param("load", "next run", marks=pytest.mark.heavy),
    ],
)
def test_nothing_is_left_of_a_killed_run(
    server: DebianServer, tmp_path: Path, own_base: Path, phase: str, then: str
) -> None:
    run, spec, wait = tmp_path / "run", spec_of(tmp_path, server), PHASES[phase]
    program = wait.program if isinstance(wait, At) else ("-m", "pgassay")
    with watched(run, spec, program=program) as tool:
        killed(tool, own_base, phase, wait)
    assert any(own_base.iterdir())
    if then == "recover":
        done = pgassay("recover", run)
        assert_nothing_open(run)
    else:
        done = pgassay("run", spec, "--out", tmp_path / "next")
    assert done.returncode == 0, done.stderr
    assert_no_server_left(own_base)
