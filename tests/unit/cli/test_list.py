"""`pgassay list` shows every run of a folder, however far it has come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.cli.list import lines
from pgassay.samples.overview import State, overview_of, runs_in
from pgassay.samples.unfinished import locked
from support.runs.command import pgassay

EVIDENCE = {"metric": "tps", "factor": "jit", "baseline": "on", "level": "off", "step": None}
VERDICT = {"kind": "verdict", "title": "better", "evidence": EVIDENCE}


def run_in(folder: Path, name: str, *, day: int = 1, analysed: bool = True) -> Path:
    """The few files of a run that `list` reads."""
    run = folder / name
    (run / "trials" / "0001").mkdir(parents=True)
    (run / "plan.json").write_text(json.dumps({"question": f"Is {name} quick?"}))
    (run / "environment.json").write_text(
        json.dumps({"created_at": f"2026-01-{day:02d}T10:00:00+00:00"})
    )
    if analysed:
        other = {**EVIDENCE, "level": "x", "effect_pct": -5.0}
        (run / "analysis.json").write_text(
            json.dumps(
                {
                    "findings": [VERDICT, {**VERDICT, "title": "worse"}, {"kind": "warning"}],
                    "comparisons": [other, {**EVIDENCE, "effect_pct": 26.1}],
                }
            )
        )
    return run


def test_a_finished_run_has_its_date_first_verdict_and_effect(tmp_path: Path) -> None:
    run_in(tmp_path, "late", day=2)
    run_in(tmp_path, "early", day=1)
    early, late = runs_in(tmp_path)
    assert (early.path.name, late.path.name) == ("early", "late")
    assert (early.state, early.verdict, early.effect_pct) == (State.FINISHED, "better", 26.1)
    assert (early.trials, early.more_verdicts) == (1, 1)
    assert early.started is not None
    assert early.started.isoformat().startswith("2026-01-01T10:00")


def test_a_run_that_is_not_finished_says_why(tmp_path: Path) -> None:
    run = run_in(tmp_path, "run", analysed=False)
    assert overview_of(run).state is State.UNFINISHED
    with locked(run):
        assert overview_of(run).state is State.RUNNING
    (run / "journal.jsonl").write_text('{"event": "change", "id": "1"}\n')
    assert overview_of(run).state is State.CHANGES_LEFT
    listed = pgassay("list", tmp_path)
    assert f"`pgassay recover {run}`" in listed.stderr
    with (run / "journal.jsonl").open("a") as journal:
        journal.write('{"event": "undone", "id": "1"}\n')
    assert overview_of(run).state is State.UNFINISHED
    (run / "analysis.json").write_text("{")
    assert overview_of(run).state is State.UNREADABLE


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_path_comes_last_and_is_never_cut(tmp_path: Path, width: int) -> None:
    path = run_in(tmp_path, "a-rather-long-name-of-a-run-directory-" + "x" * 60)
    heading, line = lines(runs_in(tmp_path), width)
    assert heading.endswith("  run")
    assert line.endswith(f"  {path}")
    assert "better, 1 more" in line
    assert "+26.1 %" in line


def test_the_question_is_shown_where_there_is_room(tmp_path: Path) -> None:
    run_in(tmp_path, "run")
    assert "Is run quick?" not in lines(runs_in(tmp_path), 80)[1]
    assert "Is run quick?" in pgassay("list", tmp_path).stdout
