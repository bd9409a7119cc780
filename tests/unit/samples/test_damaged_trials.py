"""Stored trials that had another load than planned, or hold what is no number."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pgassay.analysis.apart.compare import Question
from pgassay.analysis.model import Verdict
from pgassay.samples.run_directory import RunDirectory
from pgassay.workflows.comparing import compare_stored
from pgassay.workflows.reporting import analyse_run
from support.notes import codes_in
from support.refusals import refused
from support.synthetic.directories import SPEC, synthetic_run

pytestmark = pytest.mark.slow

TWO_STEPS = SPEC.replace("clients = 8", "clients = [4, 8]")
Edit = Callable[[dict[str, Any]], None]


def edited(run: RunDirectory, edit: Edit, *, arm: str = "a2", most: int = 99) -> None:
    """Some of an arm's trials, as somebody or a broken disk has left them."""
    for trial in run.trials():
        path = trial.folder / "trial.json"
        summary = json.loads(path.read_text())
        if summary["arm"] == arm and most > 0:
            edit(summary)
            path.write_text(json.dumps(summary))
            most -= 1


def without_the_last_step(summary: dict[str, Any]) -> None:
    summary["load"]["steps"].pop()


def cut_short(summary: dict[str, Any]) -> None:
    summary["load"]["steps"][-1]["end_ns"] -= 5 * 10**9


def at_another_level(summary: dict[str, Any]) -> None:
    summary["load"]["steps"][-1]["clients"] = 9


@pytest.mark.parametrize("edit", [without_the_last_step, cut_short, at_another_level])
def test_a_trial_with_another_load_than_planned_does_not_count(tmp_path: Path, edit: Edit) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=TWO_STEPS, effects={"a2": 0.09})
    before = analyse_run(run).analysis
    edited(run, edit, most=1)
    after = analyse_run(run).analysis
    assert [v.verdict for v in after.answer.verdicts()] == [
        v.verdict for v in before.answer.verdicts()
    ]
    (invalid,) = after.answer.invalid_trials
    (reason,) = invalid.invalid
    assert reason.code == "trials/run/other-steps"
    ran, wanted = str(reason.values["ran"]), str(reason.values["wanted"])
    assert ran.startswith(wanted.split(", ")[0])
    assert re.findall(r"\d+", wanted) == ["4", "10", "8", "10"]
    assert "analysis/verdicts/invalid" in {
        code for doubt in after.warnings for code in codes_in(doubt.note)
    }


def test_where_a_whole_arm_lacks_a_step_there_is_no_verdict_and_none_the_other_way_round(
    tmp_path: Path,
) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", spec_text=TWO_STEPS, effects={"a2": 0.09})
    edited(run, without_the_last_step)
    found = analyse_run(run).analysis
    assert len(found.answer.invalid_trials) == 6
    assert all(verdict.effect_pct is None for verdict in found.answer.verdicts())


def test_a_users_program_ends_when_it_ends(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.09})

    def own_program(summary: dict[str, Any]) -> None:
        cut_short(summary)
        summary["load"]["backend"] = "command"

    edited(run, own_program)
    assert analyse_run(run).analysis.answer.invalid_trials == ()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_samples_that_are_no_numbers_are_left_out_with_a_caveat(
    tmp_path: Path, value: float, recwarn: pytest.WarningsRecorder
) -> None:
    run, _, _ = synthetic_run(tmp_path / "run", effects={"a2": 0.09})
    for trial in run.trials():
        path = trial.folder / "postgres.parquet"
        table = pq.read_table(path)
        place = table.column_names.index("value")
        broken = pc.multiply(table["value"], pa.scalar(value))
        pq.write_table(table.set_column(place, table.field(place), broken), path)
    found = analyse_run(run).analysis
    assert [v.verdict for v in found.answer.verdicts()] == [Verdict.BETTER]
    assert all("wal_bytes_per_tx" not in trial.whole.values for trial in found.answer.trials)
    assert "analysis/measures/damaged-samples" in {
        code for caveat in found.warnings for code in codes_in(caveat.note)
    }
    assert not recwarn.list


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("transactions", -5, "step-below-nothing"),
        ("tps", float("nan"), "damaged"),
    ],
)
def test_a_count_below_nothing_and_a_rate_that_is_no_number_are_refused(
    tmp_path: Path, key: str, value: float, code: str
) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")

    def broken(summary: dict[str, Any]) -> None:
        summary["load"]["steps"][1][key] = value

    edited(run, broken, most=1)
    with refused(code) as refusal:
        analyse_run(run)
    assert refusal.value.key.endswith("/trial.json")
    assert "load.steps[1]" in str(refusal.value.values)


def test_a_trial_of_an_arm_that_was_not_planned_is_refused_by_its_file(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    edited(run, lambda summary: summary.update(arm="text"), most=1)
    other, _, _ = synthetic_run(tmp_path / "other", seed=8)
    paths = [other.path, run.path]
    for read in (partial(analyse_run, run), partial(compare_stored, paths, Question())):
        with refused("arm-of-no-plan"):
            read()


def test_a_run_without_its_trials_is_refused_in_a_line(tmp_path: Path) -> None:
    run, _, _ = synthetic_run(tmp_path / "run")
    shutil.rmtree(run.path / "trials")
    with refused("no-finished-trial", str(run.path)):
        analyse_run(run)
