"""A trial that does not count is kept and reported, and is in no figure; drift between trials
is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.model import Analysis
from pgassay.notes import Note, legacy
from pgassay.plan.model import Plan
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.objects.run import run_object
from pgassay.report.sections.record.trials import trial_table
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.reporting import analyse_run, report_run
from support.synthetic.directories import synthetic_run

pytestmark = pytest.mark.slow

REASON = "the server was restarted in the trial"
ROOM = "analysis/verdicts"


def judged_invalid(run: RunDirectory, number: int) -> dict[str, Any]:
    path = run.path / "trials" / f"{number:04d}" / "trial.json"
    trial: dict[str, Any] = json.loads(path.read_text())
    trial["validity"] = {"valid": False, "reasons": [REASON]}
    path.write_text(json.dumps(trial))
    return trial


def run_again(run: RunDirectory, plan: Plan, number: int) -> int:
    """A copy of a trial, as its second run."""
    first = next(trial for trial in plan.trials if trial.number == number)
    again = plan.again(first, len(plan.arms) + 1)
    source = run.path / "trials" / f"{number:04d}"
    copy = run.path / "trials" / f"{again.number:04d}"
    copy.mkdir()
    for file in source.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    trial = json.loads((source / "trial.json").read_text())
    trial |= {"number": again.number, "position": again.position, "repeats": again.repeats}
    trial |= {"validity": {"valid": True, "reasons": []}}
    (copy / "trial.json").write_text(json.dumps(trial))
    return again.number


def reported(analysis: Analysis, kind: str) -> list[Note]:
    return [doubt.note for doubt in analysis.warnings if doubt.kind == kind]


def invalid(number: int) -> Note:
    return Note(f"{ROOM}/invalid", {"number": number, "items": (legacy(REASON),)})


def test_a_second_run_has_another_number_and_the_same_arm_and_block(tmp_path: Path) -> None:
    _, _, plan = synthetic_run(tmp_path / "run")
    numbers = {plan.again(trial, 3).number for trial in plan.trials}
    assert len(numbers) == len(plan.trials)
    assert not numbers & {trial.number for trial in plan.trials}
    again = plan.again(plan.trials[2], 3)
    assert (
        replace(again, number=3, position=plan.trials[2].position, repeats=None) == (plan.trials[2])
    )
    assert again.repeats == 3


def test_an_invalid_trial_without_a_second_run_leaves_its_block_out(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.1})
    judged_invalid(run, 3)
    context = analyse_run(run)
    analysis = context.analysis
    assert (analysis.answer.blocks, len(analysis.answer.trials)) == (5, 11)
    assert analysis.answer.verdicts()[0].blocks == 5
    assert [trial.number for trial in analysis.answer.invalid_trials] == [3]
    assert reported(analysis, "invalid-trial") == [
        Note(f"{ROOM}/invalid-not-repeated", {"text": invalid(3)})
    ]
    assert reported(analysis, "incomplete-block") == [Note(f"{ROOM}/incomplete-block", {"n": 1})]
    assert 3 not in {series.number for series in context.series}


def test_a_second_run_takes_the_place_of_an_invalid_trial(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", effects={"a2": 0.1})
    before = analyse_run(run).analysis.answer.verdicts()
    number = run_again(run, plan, 3)
    judged_invalid(run, 3)
    context = analyse_run(run)
    analysis = context.analysis
    # The repeat ran last in its block, so the positions that least squares takes out are others.
    for now, then in zip(analysis.answer.verdicts(), before, strict=True):
        assert (now.verdict, now.blocks) == (then.verdict, then.blocks)
        assert now.effect_pct == pytest.approx(then.effect_pct, abs=0.5)
    assert reported(analysis, "incomplete-block") == []
    assert reported(analysis, "invalid-trial") == [
        Note(f"{ROOM}/invalid-replaced", {"text": invalid(3), "value": number})
    ]
    trials = trial_table(context)
    blocks = dict(zip(trials.column("number"), trials.column("block"), strict=True))
    caveats = dict(zip(trials.column("number"), trials.column("warnings"), strict=True))
    assert caveats["3"] == f"does not count: {REASON}"
    assert blocks[str(number)] == blocks["3"]
    answer = run_object("run", context)
    assert (answer["blocks"], answer["trials"]) == (6, 12)
    assert any("trial 3 does not count" in text for text in answer["warnings"])
    (of_three,) = answer["invalid_trials"]
    assert (of_three["number"], of_three["reasons"]) == (3, [REASON])
    assert answer["variants"] == []
    report = report_run(run).report.read_text()
    assert f"trial 3 does not count: {REASON}" in report


def test_an_invalid_repeat_is_a_caveat_too(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run")
    number = run_again(run, plan, 3)
    judged_invalid(run, 3)
    judged_invalid(run, number)
    assert reported(analyse_run(run).analysis, "invalid-trial") == [
        Note(f"{ROOM}/invalid-twice", {"text": invalid(3), "value": number}),
        invalid(number),
    ]


def test_a_run_without_one_valid_trial_is_reported_as_that(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=2)
    for trial in plan.trials[:4]:
        judged_invalid(run, trial.number)
    outcome = report_run(run)
    assert outcome.context.analysis.answer.blocks == 0
    assert "No trial counts" in outcome.report.read_text()
    assert "No trial counts" in render_markdown(outcome.context)


def test_a_run_made_before_validity_was_judged_counts_whole(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    for folder in (run.path / "trials").iterdir():
        trial = json.loads((folder / "trial.json").read_text())
        for key in ("validity", "repeats", "fingerprint"):
            del trial[key]
        (folder / "trial.json").write_text(json.dumps(trial))
    assert len(analyse_run(run).analysis.answer.trials) == 12


def with_fingerprint(
    run: RunDirectory,
    number: int,
    settings: dict[str, str],
    size: int = 10**8,
    *,
    knobs_differ: bool = True,
) -> None:
    path = run.path / "trials" / f"{number:04d}" / "trial.json"
    trial = json.loads(path.read_text())
    knobs = {"vm.swappiness": "1" if number > 6 else "60"}
    trial["fingerprint"] = {
        "before": {
            "version": "18.4",
            "settings": settings,
            "database_bytes": size,
            "host": {"knobs": knobs if knobs_differ else {}},
        }
    }
    path.write_text(json.dumps(trial))


def test_a_difference_between_trials_of_one_arm_is_one_caveat(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run")
    for trial in plan.trials:
        settings = {"max_wal_size": trial.arm, "hba_file": f"/run/{trial.number}/pg_hba.conf"}
        with_fingerprint(run, trial.number, settings)
    (note,) = reported(analyse_run(run).analysis, "drift")
    assert note.code == f"{ROOM}/drift"
    assert [note.values[name] for name in ("name", "before", "after")] == [
        "vm.swappiness", "60", "1",
    ]  # fmt: skip


@pytest.mark.parametrize(("growth", "caveats"), [(0.004, 0), (0.02, 1)])
def test_data_that_grow_from_trial_to_trial_are_a_caveat(
    tmp_path: Path, growth: float, caveats: int
) -> None:
    run, _, plan = synthetic_run(tmp_path / "run")
    for trial in plan.trials:
        size = round(2e8 * (1 + growth * (trial.number - 1)))
        with_fingerprint(run, trial.number, {}, size, knobs_differ=False)
    found = reported(analyse_run(run).analysis, "drift")
    assert [note.code for note in found] == [f"{ROOM}/growth"] * caveats
    for note in found:
        assert note.values["small"] == pytest.approx(205e6 / 2**20, abs=5)
        assert note.values["late"] in (11, 12)


def test_a_trial_whose_looks_are_null_has_no_drift(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", blocks=3)
    for path in (run.path / "trials").glob("*/trial.json"):
        stored = json.loads(path.read_text())
        path.write_text(json.dumps(stored | {"fingerprint": None}))
    assert reported(analyse_run(run).analysis, "drift") == []


def test_an_invalid_trial_is_not_searched_for_drift(tmp_path: Path) -> None:
    run, _, plan = synthetic_run(tmp_path / "run", blocks=3)
    for trial in plan.trials[:6]:
        with_fingerprint(run, trial.number, {"fsync": "off" if trial.number == 3 else "on"})
    assert len(reported(analyse_run(run).analysis, "drift")) == 1
    judged_invalid(run, 3)
    assert reported(analyse_run(run).analysis, "drift") == []
