"""`pgassay run --resume`: what it goes on with, what it refuses, and what it says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.broken_runs import assert_no_server_left, prints_of, spec_file, watched
from support.command import pgassay
from support.servers import installation_named


@pytest.fixture(scope="module")
def broken(
    tmp_path_factory: pytest.TempPathFactory, servers_base: Path
) -> Iterator[tuple[Path, Path]]:
    """A spec, and a run of it that was killed after its first trial and then recovered."""
    folder = tmp_path_factory.mktemp("broken")
    spec, run = spec_file(folder), folder / "run"
    with watched(run, spec, PGASSAY_DATA=str(servers_base)) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    assert pgassay("recover", run, PGASSAY_DATA=str(servers_base)).returncode == 0
    yield spec, run
    assert_no_server_left(servers_base)


@pytest.fixture
def run(broken: tuple[Path, Path], tmp_path: Path, own_base: Path) -> Path:
    """A copy of the broken run."""
    del own_base
    return shutil.copytree(broken[1], tmp_path / "run")


def changed(path: Path, **server: Any) -> None:
    """environment.json as if the server had been another."""
    stored = json.loads(path.read_text())
    stored["server"] |= server
    path.write_text(json.dumps(stored))


def refusal(*arguments: str | Path) -> str:
    done = pgassay("run", *arguments)
    assert done.returncode == 1, done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_the_experiment_file_may_be_named_and_must_be_the_same(
    broken: tuple[Path, Path], run: Path, tmp_path: Path
) -> None:
    other = spec_file(tmp_path, step="0.9s")
    kept = prints_of(run, ["0001"])
    line = refusal(other, "--out", run, "--resume")
    assert "was begun with another experiment file than" in line
    done = pgassay("run", broken[0], "--out", run, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    assert prints_of(run, ["0001"]) == kept
    assert "resumed" in json.loads((run / "analysis.json").read_text())["environment"]
    files = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    again = pgassay("run", "--resume", run, "--json")
    assert again.returncode == 0
    assert "is finished; there is nothing to resume" in again.stderr
    assert json.loads(again.stdout) == json.loads(done.stdout)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == files


def test_a_spec_that_was_edited_in_the_run_is_refused(run: Path) -> None:
    spec = run / "spec.toml"
    spec.write_text(spec.read_text().replace('step = "0.8s"', 'step = "0.9s"'))
    assert "is not what plan.json was drawn from" in refusal("--resume", run)


def test_another_server_is_refused_or_accepted_by_name(run: Path) -> None:
    changed(run / "environment.json", version="PostgreSQL 18.0")
    line = refusal("--resume", run)
    assert "version was PostgreSQL 18.0, is PostgreSQL 18" in line
    assert "--accept version" in line
    settings = json.loads((run / "environment.json").read_text())["server"]["settings"]
    changed(run / "environment.json", settings=settings | {"jit": "off"})
    line = refusal("--resume", run, "--accept", "version")
    assert "jit was off, is not set" in line
    assert line.endswith("--accept jit")
    done = pgassay("run", "--resume", run, "--accept", "version", "--accept", "jit")
    assert done.returncode == 0, done.stderr
    (note,) = json.loads((run / "environment.json").read_text())["resumed"]
    assert note["accepted"] == ["jit", "version"]
    assert note["after_trials"] == 1


def test_a_bin_directory_beside_the_experiment_file_is_found_again_from_the_run_alone(
    tmp_path: Path, empty_base: Path
) -> None:
    programs = installation_named("debian-15").bin_directory
    run = tmp_path / "elsewhere" / "run"
    spec = spec_file(tmp_path, target=f"[target]\nbin = '{os.path.relpath(programs, tmp_path)}'")
    with watched(run, spec) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    done = pgassay("run", "--resume", run, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    assert_no_server_left(empty_base)


def test_what_cannot_be_resumed_is_said_in_one_line(
    broken: tuple[Path, Path], run: Path, tmp_path: Path
) -> None:
    assert "is not a run directory" in refusal("--resume", broken[0])
    assert "is not a run directory" in refusal("--resume", tmp_path)
    assert "drop --seed" in refusal("--resume", run, "--seed", "1")
    assert "--accept belongs to --resume" in refusal(broken[0], "--accept", "jit")
