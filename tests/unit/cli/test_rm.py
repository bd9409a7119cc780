"""`pgassay rm` removes what it made, asks before, and leaves everything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.samples.ownership.unfinished import locked
from pgassay.samples.profiles import ProfileDirectory
from support.runs.command import pgassay


def run_in(folder: Path, name: str = "run") -> Path:
    """The few files that make a directory a run."""
    run = folder / name
    (run / "trials" / "0001").mkdir(parents=True)
    (run / "plan.json").write_text(json.dumps({"schema": "pgassay.plan/1", "question": "Why?"}))
    (run / "trials" / "0001" / "trial.json").write_text("{}")
    return run


def test_several_runs_are_removed_after_a_yes(tmp_path: Path) -> None:
    runs = [run_in(tmp_path, "one"), run_in(tmp_path, "x'; rm -rf \u202e \U0001f4a3\n[red]")]
    kept = run_in(tmp_path, "kept")
    done = pgassay("rm", "--yes", *runs, runs[0])
    assert done.stdout.count("removed ") == 2
    assert list(tmp_path.iterdir()) == [kept]


def test_a_profile_is_removed(tmp_path: Path) -> None:
    folder = ProfileDirectory.create(tmp_path / "profile")
    folder.finish({}, [])
    assert pgassay("rm", "--yes", folder.path).returncode == 0
    assert not folder.path.exists()


def test_a_dry_run_and_a_script_without_yes_remove_nothing(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    assert f"would remove {run} " in pgassay("rm", run, "--dry-run").stdout
    assert "say --yes" in pgassay("rm", run).stderr
    assert (run / "trials" / "0001" / "trial.json").exists()


def test_what_is_no_run_is_refused_and_with_it_the_whole_call(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    foreign = tmp_path / "terraform"
    foreign.mkdir()
    (foreign / "plan.json").write_text('{"format_version": "1.2"}')
    for path in (foreign, tmp_path, tmp_path / "none", foreign / "plan.json"):
        assert "is not a" in pgassay("rm", "--yes", run, path).stderr
    assert run.exists()
    assert foreign.exists()


def test_a_running_run_is_refused(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    with locked(run):
        assert "is alive" in pgassay("rm", "--yes", run).stderr
    assert run.exists()


def test_a_run_with_changes_left_is_refused_and_the_refusal_names_recover(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    journal = run / "journal.jsonl"
    journal.write_text('{"event": "change", "id": "1"}\n')
    assert f"pgassay recover {run}" in pgassay("rm", "--yes", run).stderr
    journal.write_text(journal.read_text() + '{"event": "undone", "id": "1"}\n')
    pgassay("rm", "--yes", run)
    assert not run.exists()


@pytest.mark.parametrize("place", ["", "trials"])
def test_a_link_inside_a_run_goes_and_what_it_leads_to_stays(tmp_path: Path, place: str) -> None:
    run = run_in(tmp_path)
    outside = tmp_path / "data"
    outside.mkdir()
    (outside / "file").write_text("mine")
    (run / place / "link").symlink_to(outside)
    (run / place / "file").symlink_to(outside / "file")
    pgassay("rm", "--yes", run)
    assert not run.exists()
    assert (outside / "file").read_text() == "mine"


def test_a_run_named_by_a_link_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(run_in(tmp_path))
    assert "symbolic link" in pgassay("rm", "--yes", link).stderr
    assert link.exists()
