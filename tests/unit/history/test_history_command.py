"""`pgassay history` says since when runs have another level, and gates the last."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.history.series import Asked
from pgassay.findings.history.levels import caveats, sentence_of
from pgassay.language import in_language
from pgassay.report.brief.prompt import render_prompt
from pgassay.report.brief.render import render_brief
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.formats.picture import render_svg
from pgassay.report.objects.history import render_history_json
from pgassay.report.objects.schemas import json_schema
from pgassay.workflows.history import stored_history
from support.json_schema import mistakes
from support.refusals import refused
from support.runs.command import pgassay
from support.runs.json_page import documented
from support.synthetic.directories import synthetic_run
from support.synthetic.histories import SPEC, nightly
from support.synthetic.hostile import MARKUP

CHANGED = 14
LEVELS = 0.01 * np.random.default_rng(3).standard_normal(24)
LEVELS[CHANGED:] -= 0.08
VERSIONS = ["PostgreSQL 18.6"] * CHANGED + ["PostgreSQL 18.7"] * (24 - CHANGED)
RULE = "findings/history/levels/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nights")
    nightly(folder, LEVELS.tolist(), versions=VERSIONS)
    return folder


def test_the_change_names_its_run_its_size_and_what_else_changed(folder: Path) -> None:
    analysis = stored_history([folder], Asked()).analysis
    series = next(one for one in analysis.series if one.metric == "tps")
    (change,) = series.changes
    assert analysis.runs[change.first].name == f"night-{CHANGED:03d}"
    true = 100.0 * (np.exp(LEVELS[CHANGED:].mean() - LEVELS[:CHANGED].mean()) - 1.0)
    assert change.change.value == pytest.approx(true, abs=0.3)
    assert [str(one.name) for one in change.conditions] == ["version"]
    claim = sentence_of(series, analysis).values["clause"]
    assert claim.code == f"{RULE}level.changed"  # type: ignore[union-attr]


def test_the_order_of_the_arguments_does_not_matter(folder: Path) -> None:
    runs = sorted(folder.iterdir(), reverse=True)
    found = stored_history(runs, Asked()).analysis
    assert [run.name for run in found.runs] == sorted(run.name for run in found.runs)


def test_the_keys_are_the_documented_ones(folder: Path) -> None:
    done = pgassay("history", folder, "--json", "--gate", "tps>-5%")
    found: dict[str, Any] = json.loads(done.stdout)
    schema = found["schema"]
    assert set(found) == documented("the history", schema)
    assert set(found["runs"][0]) == documented("`runs[]` of a history", schema)
    series = found["series"][0]
    assert set(series) == documented("`series[]` of a history", schema)
    assert set(series["changes"][0]) == documented("`changes[]` of a history", schema)
    whole = json_schema("history")
    assert set(whole["properties"]) == set(found)
    assert list(mistakes(found, whole, whole)) == []


def test_the_brief_and_the_prompt_say_since_when(folder: Path) -> None:
    context = stored_history([folder], Asked(parse_gates(["tps>-5%"])))
    for text in (render_brief(context), render_prompt(context)):
        assert f"night-{CHANGED:03d}" in text
        assert "PostgreSQL 18.7" in text
        assert "GATES" in text


@pytest.mark.parametrize(
    ("last", "gate", "outcome"),
    [
        (0.0, "tps>-5%", GateOutcome.HOLDS),
        (-0.2, "tps>-5%", GateOutcome.FAILED),
        (-0.05, "tps>-5%", GateOutcome.UNDECIDED),
    ],
)
def test_a_gate_compares_the_last_run_with_those_before(
    tmp_path: Path, last: float, gate: str, outcome: GateOutcome
) -> None:
    steady = 0.005 * np.random.default_rng(5).standard_normal(15)
    nightly(tmp_path, [*steady.tolist(), last])
    context = stored_history([tmp_path], Asked(parse_gates([gate])))
    (result,) = context.gates
    assert result.outcome is outcome
    judged = context.analysis.judged
    assert judged is not None
    assert (judged.latest, len(judged.against)) == (("night-015",), 15)


def test_a_failed_gate_ends_with_3(tmp_path: Path) -> None:
    nightly(tmp_path, [0.0, 0.001, 0.002, 0.001, 0.0, 0.002, -0.3])
    assert pgassay("history", tmp_path, "--gate", "tps>-5%").returncode == 3
    with refused("history-too-short"):
        stored_history([tmp_path], Asked(parse_gates(["tps>-5%"]), latest=7))


def test_the_gate_holds_the_last_run_against_the_level_that_it_continues(folder: Path) -> None:
    judged = stored_history([folder], Asked(parse_gates(["tps>-5%"]))).analysis.judged
    assert judged is not None
    assert judged.against[0] == f"night-{CHANGED:03d}"


def test_runs_of_another_load_are_left_out_by_name(tmp_path: Path) -> None:
    other = SPEC.replace("clients = 8", "clients = 4")
    nightly(tmp_path, [0.0] * 3, spec=other, name="other-{at}", days_earlier=9)
    nightly(tmp_path, [0.0, 0.001, 0.002])
    context = stored_history([tmp_path], Asked())
    assert [one.name for one in context.analysis.left_out] == ["other-0", "other-1", "other-2"]
    codes = [note.code for note in caveats(context.analysis)]
    assert codes == [f"{RULE}caveats.few", *[f"{RULE}caveats.left_out"] * 3]


def test_one_run_is_no_history(tmp_path: Path) -> None:
    (run,) = nightly(tmp_path, [0.0])
    with refused("history-of-one"):
        stored_history([run], Asked())
    with refused("named-twice"):
        stored_history([run, tmp_path], Asked())


def test_runs_without_analysis_are_measured_to_the_same_figures(tmp_path: Path) -> None:
    spec = SPEC.replace('step = "10s"', 'step = "2s"')
    runs = [
        synthetic_run(tmp_path / f"run-{seed}", spec_text=spec, seed=seed)[0].path
        for seed in (1, 2)
    ]
    measured = stored_history(runs, Asked()).analysis
    for run in runs:
        assert pgassay("report", run).returncode == 0
        assert (run / "analysis.json").is_file()
        shutil.rmtree(run / "trials" / "0001" / "load.parquet", ignore_errors=True)
    stored = stored_history(runs, Asked()).analysis
    by_name = {one.metric: one.points for one in stored.series}
    for one in measured.series:
        assert by_name[one.metric] == pytest.approx(one.points)


@pytest.mark.parametrize("lang", ["en", "ru", "zh"])
def test_every_format_shows_hostile_names_inertly(tmp_path: Path, lang: str) -> None:
    name = MARKUP.replace("/", "∕") + " {at:02d}"
    nightly(tmp_path, LEVELS.tolist(), name=name, versions=[MARKUP] * 12 + ["x"] * 12)
    with in_language(lang):
        context = stored_history([tmp_path], Asked())
        page, text, picture = (make(context) for make in (render_html, render_markdown, render_svg))
    assert "<script>alert" not in page + text + picture
    assert page.count('data-chart="history-0"') == 1
    assert json.loads(render_history_json(context))["schema"] == "pgassay.history/1"
