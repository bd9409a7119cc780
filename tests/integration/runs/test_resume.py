"""`pgassay run --resume`: what it goes on with, what it refuses, and what it says."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.runs.broken import UNTOUCHED, assert_no_server_left, prints_of, spec_file, watched
from support.runs.command import pgassay
from support.servers.lab import installation_named


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory, servers_base: Path) -> tuple[Path, Path]:
    """A spec, and a run of it that was killed after its first trial and then recovered.

    Its bin directory is relative to the spec, and the run lies elsewhere.
    """
    folder = tmp_path_factory.mktemp("broken")
    programs = installation_named("debian-15").bin_directory
    target = f"[target]\nbin = '{os.path.relpath(programs, folder)}'\n{UNTOUCHED}"
    spec = spec_file(folder, target=target, step="0.4s")
    run = folder / "elsewhere" / "run"
    base = Path(tempfile.mkdtemp(prefix="resume-", dir=servers_base))
    base.chmod(0o711)
    with watched(run, spec, PGASSAY_DATA=str(base)) as tool:
        tool.wait_for(lambda: len(tool.finished()) >= 1, "a finished trial")
        tool.kill()
    assert pgassay("report", run).returncode == 0
    recovered = pgassay("recover", run, PGASSAY_DATA=str(base))
    assert recovered.returncode == 0, recovered.stderr
    assert "undone: " in recovered.stdout
    assert "nothing to undo" in pgassay("recover", run).stdout
    assert_no_server_left(base)
    return spec, run


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


def test_a_resumed_run_keeps_its_trials_and_accepts_another_server_only_by_name(
    broken: tuple[Path, Path], run: Path, tmp_path: Path
) -> None:
    other = spec_file(tmp_path, step="0.9s")
    assert "was begun with another experiment file than" in refusal(other, "--out", run, "--resume")
    environment = run / "environment.json"
    settings = json.loads(environment.read_text())["server"]["settings"]
    changed(environment, version="PostgreSQL 15.0", settings=settings | {"jit": "off"})
    line = refusal("--resume", run)
    assert "version was PostgreSQL 15.0, is PostgreSQL 15" in line
    assert "--accept version" in line
    line = refusal("--resume", run, "--accept", "version")
    assert "jit was off, is not set" in line
    assert line.endswith("--accept jit")
    kept = prints_of(run, ["0001"])
    accepted = ["--accept", "version", "--accept", "jit"]
    done = pgassay("run", broken[0], "--out", run, "--resume", "--json", *accepted)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 4
    assert prints_of(run, ["0001"]) == kept
    (note,) = json.loads(environment.read_text())["resumed"]
    assert note["accepted"] == ["jit", "version"]
    assert note["after_trials"] == 1
    assert "resumed" in json.loads((run / "analysis.json").read_text())["environment"]
    files = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    again = pgassay("run", "--resume", run, "--json")
    assert again.returncode == 0
    assert "this run is finished; there is nothing to resume" in again.stderr
    assert json.loads(again.stdout) == json.loads(done.stdout)
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == files


def test_a_spec_that_was_edited_in_the_run_is_refused(run: Path) -> None:
    spec = run / "spec.toml"
    spec.write_text(spec.read_text().replace('step = "0.4s"', 'step = "0.9s"'))
    assert "was changed after the plan was made" in refusal("--resume", run)


def test_a_run_begun_when_throughput_judged_a_rate_goes_on_with_it(
    run: Path, tmp_path: Path
) -> None:
    spec, plan = run / "spec.toml", run / "plan.json"
    assert json.loads(plan.read_text())["metric"] == "response_mean"
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {"metric": "tps"}))
    spec.write_text(f'{spec.read_text()}metric = "tps"\n')
    done = pgassay("run", "--resume", run, "--json", "--yes")
    assert done.returncode == 0, done.stderr
    assert {one["metric"] for one in json.loads(done.stdout)["verdicts"]} == {"tps"}
    assert "design.metric: load.rate sets the throughput" in refusal(
        spec, "--out", tmp_path / "new"
    )


def test_what_cannot_be_resumed_is_refused_in_one_line(
    broken: tuple[Path, Path], run: Path, tmp_path: Path
) -> None:
    assert "is not a run directory" in refusal("--resume", broken[0])
    assert "is not a run directory" in refusal("--resume", tmp_path)
    assert "drop --seed" in refusal("--resume", run, "--seed", "1")
    assert "--accept only works with --resume" in refusal(broken[0], "--accept", "jit")
