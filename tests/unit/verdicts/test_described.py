"""Factors whose levels are described side by side: no verdict, no margin, no gate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.model import Verdict
from pgassay.analysis.noise.prior_runs import Conditions, expect
from pgassay.analysis.reading.metrics import METRICS
from pgassay.cli.terminal.gates import refuse_without_comparison
from pgassay.language import tr
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.report.context import ReportContext
from pgassay.report.formats.junit import render_junit
from pgassay.report.objects.run import run_object
from pgassay.report.summaries import headline
from pgassay.report.tables.profile import profile_table
from support.refusals import refused
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC
from support.synthetic.report_contexts import synthetic_context

DESCRIBED = SPEC.replace("[design]", '[design]\ndescribes = ["max_wal_size"]')
MIXED = DESCRIBED.replace(
    '["32MB", "4GB"]', '["32MB", "4GB"]\ncheckpoint_completion_target = ["0.5", "0.9"]'
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    """A level that is 80 % slower, clearly."""
    folder = tmp_path_factory.mktemp("described")
    return synthetic_context(folder, spec_text=DESCRIBED, effects={"a2": -1.6})


def test_a_described_level_is_never_better_or_worse(context: ReportContext) -> None:
    every = context.analysis.answer.comparisons
    assert {one.verdict for one in every} == {Verdict.DESCRIBED}
    (verdict,) = context.analysis.answer.verdicts()
    assert verdict.clear
    assert verdict.ci95_pct is not None
    assert verdict.ci95_pct[1] < -70.0
    assert context.analysis.answer.judged() == ()


def test_the_headline_has_the_figures_of_both_levels(context: ReportContext) -> None:
    (row,) = context.ending.rows
    assert row.badge.values["verdict"] == "described"
    assert row.sentence.code == "findings/answer/verdicts/described.any"
    assert (row.sentence.values["baseline"], row.sentence.values["level"]) == ("32MB", "4GB")
    assert row.sentence.values["figures"]
    assert context.ending.following.code == "findings/answer/ending/next.described"
    assert [one.tone for one in headline.verdicts(context)] == ["measured"]


def test_no_margin_and_no_endpoint_apply(context: ReportContext) -> None:
    plan = context.plan
    assert (plan.describes, plan.endpoints, plan.stops) == (True, (), "fixed")
    assert tr("Smallest effect that matters") not in dict(headline.facts(context))


def test_an_open_number_of_blocks_is_the_least() -> None:
    plan = plan_of_spec(DESCRIBED.replace("max_blocks = 6", "max_blocks = 24"))
    assert (plan.min_blocks, plan.max_blocks, plan.looks) == (6, 6, ())


def test_the_profile_has_each_figure_with_its_change(context: ReportContext) -> None:
    table = profile_table(context)
    first = next(row for row in table.rows if row[1] == METRICS["tps"].title)
    assert first.cells[2].note == ""
    assert first.cells[3].note
    answer = context.analysis.answer.verdicts()[0]
    assert [cell.value for cell in first.cells[2:]] == [answer.baseline_mean, answer.level_mean]


def test_machine_formats_say_described(context: ReportContext) -> None:
    (verdict,) = run_object("run", context)["verdicts"]
    assert (verdict["verdict"], verdict["badge"]) == ("described", "described")
    assert 'failures="0" skipped="0" errors="0"' in render_junit(context)


def test_a_gate_is_refused(context: ReportContext) -> None:
    with refused("gate-of-described"):
        refuse_without_comparison(parse_gates(["tps>-2%"]), context.plan, Path("lab.toml"))


def test_other_factors_keep_their_verdicts(tmp_path: Path) -> None:
    found = synthetic_context(tmp_path, spec_text=MIXED, effects={"a3": -1.6, "a4": -1.6})
    answer = found.analysis.answer
    by_factor = {one.factor: one.verdict for one in answer.verdicts()}
    assert by_factor["max_wal_size"] is Verdict.DESCRIBED
    assert by_factor["checkpoint_completion_target"] is not Verdict.DESCRIBED
    assert (found.plan.compared_levels, found.plan.describes) == (1, False)
    assert {one.factor for one, _ in answer.judged()} == {"checkpoint_completion_target"}


def test_a_plan_keeps_what_is_described() -> None:
    plan = plan_of_spec(DESCRIBED)
    stored = json.loads(json.dumps(plan_to_json(plan)))
    assert plan_from_json(stored).factors == plan.factors
    for factor in stored["factors"]:
        del factor["describes"]  # as plans of older versions
    assert not plan_from_json(stored).describes


def test_nothing_is_forecast_of_a_description() -> None:
    plan = plan_of_spec(DESCRIBED)
    like = Conditions("load", ("server", "18"), "workload")
    assert expect(like, plan, ()) is None
    assert expect(like, replace(plan, factors=()), ()) is None


def test_a_name_that_is_no_factor_is_refused() -> None:
    with refused("described-unknown", "design.describes", name="nothing"):
        plan_of_spec(DESCRIBED.replace('describes = ["max_wal_size"]', 'describes = ["nothing"]'))
