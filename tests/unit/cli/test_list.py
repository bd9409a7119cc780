"""`pgassay list` shows every run of a folder, however far it has come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.model import Verdict
from pgassay.analysis.verdicts.model import Reason
from pgassay.cli.list import _REASONS, StateName, VerdictName, lines
from pgassay.samples.overview import State, overview_of, runs_in
from pgassay.samples.ownership.unfinished import locked
from pgassay.workflows.reporting import analyse_run, report_run
from support.notes import codes_in
from support.runs.command import pgassay
from support.synthetic.directories import synthetic_run

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


def test_runs_are_chosen_by_state_verdict_question_and_number(tmp_path: Path) -> None:
    for number in range(1, 5):
        run_in(tmp_path, f"run-{number}", day=number, analysed=number != 3)

    def listed(*options: str) -> list[str]:
        found = json.loads(pgassay("list", tmp_path, "--json", *options).stdout)
        return [Path(one["run"]).name[-1] for one in found["runs"]]

    assert listed("--last", "2") == ["3", "4"]
    assert listed("-n", "2", "--newest-first") == ["4", "3"]
    assert listed("--state", "unfinished") == ["3"]
    assert listed("--state", "unfinished", "--state", "finished") == ["1", "2", "3", "4"]
    assert listed("--verdict", "worse", "--question", "IS RUN-2") == ["2"]
    assert "none of the 4 runs" in pgassay("list", tmp_path, "--verdict", "better", "-n1",
                                           "--state", "running").stderr  # fmt: skip


def test_the_names_of_states_and_verdicts_are_those_of_runs() -> None:
    assert {name.replace("-", " ") for name in StateName} == set(State)
    assert set(VerdictName) == {*Verdict, "measured", "observation"}


def test_the_summary_of_a_run_says_what_its_whole_analysis_says(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.2})
    report_run(run)
    analysis = run.path / "analysis.json"
    with_summary = overview_of(run.path)
    assert (with_summary.verdict, with_summary.more_verdicts) == ("better", 0)
    assert with_summary.effect_pct == pytest.approx(22, abs=3)
    stored = json.loads(analysis.read_text())
    del stored["summary"]  # as an older pgassay wrote it
    analysis.write_text(json.dumps(stored))
    assert overview_of(run.path) == with_summary


def test_an_undecided_run_is_listed_with_its_reason(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.02}, noise=0.03)
    context = analyse_run(run)
    report_run(run)
    (why,) = context.analysis.answer.undecided
    found = overview_of(run.path)
    assert (found.reason, found.verdict) == (why.reason.value, "undecided")
    assert {f"findings/answer/undecided/reason.{found.reason}"} <= {
        *codes_in(context.ending.following)
    }
    assert {*_REASONS} == {*Reason}
    assert lines([found], 400)[1].split("  ")[1] == f"undecided: {_REASONS[why.reason.value]}"


def test_of_an_analysis_with_a_summary_only_the_beginning_is_read(tmp_path: Path) -> None:
    run = run_in(tmp_path, "run")
    summary = {"verdict": "worse", "badge": "worse", "effect_pct": -3.5, "verdicts": ["worse"]}
    text = json.dumps({"summary": summary, "trials": ["\U0001f4a3" * 9000]}, ensure_ascii=False)
    (run / "analysis.json").write_text(text[:-100], "utf-8")
    assert overview_of(run).effect_pct == -3.5


@pytest.mark.parametrize(
    "wrong", [{"effect_pct": "x"}, {"badge": 3}, {"verdicts": [["worse"]]}, {"verdicts": 1}]
)
def test_a_summary_of_another_form_makes_a_run_unreadable_and_hides_no_other(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    summary = {"verdict": "worse", "badge": "worse", "effect_pct": -3.5, "verdicts": ["worse"]}
    (run_in(tmp_path, "run") / "analysis.json").write_text(json.dumps({"summary": summary | wrong}))
    run_in(tmp_path, "other", day=2)
    assert [run.state for run in runs_in(tmp_path)] == [State.UNREADABLE, State.FINISHED]
    assert len(lines(runs_in(tmp_path), 80)) == 3, "a heading, and a line for each run"
