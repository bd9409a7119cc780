"""The report on load curves, quantiles, checkpoints, associations and steadiness."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.curves.model import (
    Association,
    Associations,
    CheckpointContrast,
    CheckpointEffect,
    Crossing,
    EffectByLoad,
    LoadCurve,
    QuantileShift,
    ScalingFit,
    Steadiness,
    StepSteadiness,
)
from pgassay.analysis.statistics.values import Estimate
from pgassay.findings.model import FindingKind
from pgassay.findings.registry import find
from pgassay.notes import Note
from pgassay.quantities import LoadUnit
from pgassay.report.charts.effects.load_curve import by_load_chart, load_curve_chart
from pgassay.report.charts.latency.quantiles import quantiles_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart
from pgassay.report.document.captions import cut
from pgassay.report.document.text import plain_text
from pgassay.report.formats.html import render_html
from pgassay.report.formats.markdown import render_markdown
from pgassay.report.sections.behaviour import checkpoints, curves
from pgassay.report.sections.run_parts import RUN_SECTIONS
from pgassay.report.svg.draw import WIDE_PX, draw
from pgassay.report.svg.model import Line
from support.blocks import every
from support.notes import codes_in
from support.synthetic.analyses import changed
from support.synthetic.report_contexts import STEPS, synthetic_context

LOADS = (1.0, 8.0, 64.0)
BY_LOAD = EffectByLoad(
    "tps", "max_wal_size", "32MB", "4GB", LoadUnit.CLIENTS, 6, LOADS, (6.0, 0.4, -9.0),
    ((4.0, 8.0), (-1.0, 1.8), (-11.0, -7.0)), (Crossing(10.2, 6.0, 19.0, "better"),),
)  # fmt: skip
SHIFT = QuantileShift(
    "max_wal_size", "32MB", "4GB", None, LoadUnit.CLIENTS, "latency", 6, (0.1, 0.5, 0.99),
    (1.0, 2.0, 9.0), (0.9, 2.0, 14.0), (-10.0, 0.1, 55.0),
    ((-12.0, -8.0), (-1.0, 1.2), (40.0, 70.0)),
)  # fmt: skip
KNEE = LoadCurve(
    "a1", 6, LOADS, (100.0, 500.0, 400.0), ((90.0, 110.0), None, (380.0, 420.0)),
    ScalingFit(
        Estimate(110, 100, 120), Estimate(0.1, 0.08, 0.12), Estimate(0.002, 0.001, 0.003),
        Estimate(21.2, 18, 26), Estimate(520, 500, 540), None, 1.2, ((1.0, 100.0), (64.0, 400.0)),
    ), None,
)  # fmt: skip
FEW = Note("analysis/curves/few-blocks", {"fewest": 3, "number": 2})
SHORT = Note("analysis/curves/short-trials")
REFUSED = LoadCurve("a2", 2, LOADS, (1.0, 2.0, 3.0), (None,) * 3, None, FEW)
DIP = CheckpointEffect(
    "a1", 8, 24, 1.0, 2.0, (-0.5, 0.5, 1.5), (0.0, -30.0, -5.0), (None, (-35.0, -25.0), None),
    Estimate(30, 25, 35), 0.5, Estimate(4, 3, 5), Estimate(6, 5, 8), Estimate(12345, 11000, 13500),
    Estimate(7654, 7000, 8300), None,
)  # fmt: skip
NO_DIP = replace(
    DIP, arm="a2", depth_pct=Estimate(1, -2, 4), dip_at_s=None, duration_s=None, recovery_s=None,
    lost_transactions=Estimate(50, -400, 500),
)  # fmt: skip
CONTRAST = CheckpointContrast(
    "max_wal_size", "32MB", "4GB", 6, Estimate(-29, -33, -25), Estimate(-12000, -13500, -10500)
)
TOGETHER = Associations(
    (Association("sessions: <WAL>", "tps", 2.0, -0.45, (-0.52, -0.37), 1e-5, 8, 900.0),),
    120, tuple(float(at) for at in range(-10, 11)), 8, 8, None,
)  # fmt: skip
CHANGED = Note("analysis/curves/drifted", {"over_step_pct": -8.0})
UNSTEADY = StepSteadiness(3, "a1", 8.0, Steadiness.UNSTEADY, CHANGED, 0.0, (), None, False)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ReportContext:
    plain = synthetic_context(tmp_path_factory.mktemp("run"))
    analysis = changed(
        plain.analysis,
        by_load=(BY_LOAD,),
        quantile_shifts=(SHIFT,),
        load_curves=(KNEE, REFUSED),
        checkpoint_effects=(DIP, NO_DIP),
        checkpoint_contrasts=(CONTRAST,),
        associations=TOGETHER,
        courses=(UNSTEADY,),
    )
    return replace(plain, analysis=analysis, findings=find(analysis, plain.facts))


def test_every_curve_is_described_in_one_sentence(context: ReportContext) -> None:
    assert [finding.text for finding in context.of_kind(FindingKind.OBSERVATION)] == [
        "Latency of max_wal_size = 4GB against 32MB is lower at the 10th percentile (−10.0 %),"
        " higher at the 99th percentile (+55.0 %); elsewhere there is no clear difference that"
        " matters (one 95 % band, 6 blocks).",
        "Throughput of max_wal_size = 4GB against 32MB is higher at 1 client (+6.0 %),"
        " lower at 64 clients (−9.0 %); elsewhere there is no clear difference that"
        " matters (one 95 % band, 6 blocks).",
        "max_wal_size = 4GB is better than 32MB below about 10 clients (95 % CI 6.0 to 19),"
        " and worse above.",
        "max_wal_size = 32MB: throughput is greatest at about 21 clients (95 % CI 18 to 26),"
        " near 520 tps.",
        "Every scenario has a single mode of latency in every arm: no second kind of transaction"
        " was found that makes up 1 % or more.",
        "max_wal_size = 32MB: after a checkpoint begins, throughput falls by 30 % at its lowest"
        " point (95 % CI 25 to 35 %) and recovers after 6.0 s (5.0 to 8.0 s); each checkpoint costs"
        " 12\u202f300 transactions within 2 s (95 % CI 11\u202f000 to 13\u202f500; 8 trials,"
        " 24 checkpoints).",
        "max_wal_size = 4GB: throughput shows no clear dip after checkpoints begin; the cost of"
        " each checkpoint within 2 s is not clear (95 % CI −400 to 500 transactions; 8 trials,"
        " 24 checkpoints).",
        "A checkpoint of max_wal_size = 4GB costs 12\u202f000 transactions fewer than one of 32MB"
        " (joint 95 % CI 10\u202f500 to 13\u202f500, 6 blocks).",
        "sessions: <WAL> rises 2 s before throughput falls (r = −0.45, 95 % CI −0.52 to −0.37,"
        " 8 trials). This is an association inside trials; it does not show that one causes the"
        " other.",
    ]


def test_a_clear_difference_too_small_to_matter_is_not_reported(context: ReportContext) -> None:
    tiny = replace(
        SHIFT, shift_pct=(0.3, 0.3, 0.3), band95_pct=((0.2, 0.4), (0.2, 0.4), (0.2, 0.4))
    )
    analysis = changed(context.analysis, quantile_shifts=(tiny,), by_load=())
    assert not [f for f in find(analysis, context.facts) if f.rule == "quantiles"]


def observed(context: ReportContext, code: str) -> list[str]:
    """The sentences of the observations with this code, without its room."""
    found = context.of_kind(FindingKind.OBSERVATION)
    return [one.text for one in found if one.claim.code == f"findings/behaviour/curves/{code}"]


def test_the_page_has_sentences_tables_and_charts_of_each_curve(context: ReportContext) -> None:
    page = render_html(context)
    for chart in ("by_load", "load_curve", "quantiles", "checkpoints"):
        assert f'data-chart="{chart}"' in page
    (crossing,) = observed(context, "by_load.crossing")
    assert crossing.partition(" (")[0] in page
    assert "21 clients (18 to 26)" in page
    assert str(FEW) in page
    assert "12\u202f300 (11\u202f000 to 13\u202f500)" in page
    assert "sessions: &lt;WAL&gt;" in page
    assert "<WAL>" not in page
    assert str(CHANGED) in page


def test_markdown_has_the_same_sentences_and_the_table_of_loads(context: ReportContext) -> None:
    text = render_markdown(context)
    (by_load,) = observed(context, "by_load.clear")
    assert f"- {by_load}" in text
    assert "| Throughput | max_wal_size = 4GB | 64 clients | −9.0 % | −11.0 % to −7.0 % |" in text
    assert "&lt;WAL&gt;" in text


def test_the_stored_files_of_a_run_with_steps_give_the_effect_at_each_load(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path, STEPS, effects={"a2": 0.1})
    (effect, *_) = context.analysis.behaviour.by_load
    assert len(effect.loads) == len(effect.effect_pct) > 1
    codes = [
        code for one in context.of_kind(FindingKind.OBSERVATION) for code in codes_in(one.claim)
    ]
    assert "findings/behaviour/curves/by_load.all" in codes
    assert {step.course for step in context.analysis.behaviour.courses} == {Steadiness.UNKNOWN}
    assert context.analysis.behaviour.associations is not None
    assert context.analysis.behaviour.associations.refused is not None


def captions(context: ReportContext) -> list[str]:
    """Of all charts of the report."""
    return [
        plain_text(chart.caption)
        for section in RUN_SECTIONS
        for chart in every(section.blocks(context), Chart)
    ]


def test_a_very_wide_band_continues_beyond_the_edge_and_the_caption_says_so(
    context: ReportContext,
) -> None:
    wide = ((-99.0, 5e6), (-1.0, 1.2), (40.0, math.inf))
    analysis = changed(
        context.analysis,
        by_load=(replace(BY_LOAD, band95_pct=wide),),
        quantile_shifts=(replace(SHIFT, band95_pct=wide),),
        load_curves=(replace(KNEE, interval95=((1.0, 9e6), (490.0, 510.0), (380.0, 420.0))),),
    )
    charts = (
        by_load_chart(analysis),
        quantiles_chart(analysis),
        load_curve_chart(analysis, arm_styles(context.plan.arms)),
    )
    for chart in charts:
        assert chart is not None
        assert chart.runs_out
        axis = chart.panels[0].y
        assert axis.low is not None
        assert axis.high is not None
        assert axis.high - axis.low < 4000.0
        assert "inf" not in draw(chart, WIDE_PX, "chart")
    (runs_out,) = {text for chart in charts if chart for text in cut(chart) if chart.runs_out}
    wide_captions = captions(replace(context, analysis=analysis))
    assert len([one for one in wide_captions if runs_out in one]) == 3
    assert not [one for one in captions(context) if runs_out in one]


def test_a_point_without_an_interval_is_hollow_and_has_no_bar(context: ReportContext) -> None:
    analysis = changed(context.analysis, load_curves=(KNEE,))
    chart = load_curve_chart(analysis, arm_styles(context.plan.arms))
    assert chart is not None
    drawing = draw(chart, WIDE_PX, "chart")
    assert drawing.count('class="hollow') == 1
    assert drawing.count("h8M-4") == 2
    assert "no interval yet" in drawing
    assert chart.has_hollow
    (has_hollow,) = cut(chart)
    assert [one for one in captions(context) if has_hollow in one]


def test_a_band_of_a_single_quantile_is_a_bar(context: ReportContext) -> None:
    alone = replace(SHIFT, band95_pct=(None, (-1.0, 1.2), None))
    figure = quantiles_chart(changed(context.analysis, quantile_shifts=(alone,)))
    assert figure is not None
    lines = [mark for mark in figure.panels[0].marks if isinstance(mark, Line)]
    assert [one.y for one in lines if len(set(one.x)) == 1] == [(-1.0, 1.2)]


def test_captions_name_only_what_is_drawn(context: ReportContext) -> None:
    drawn = ("A dotted line is the load", "Universal Scalability Law", "A cross is the knee")
    said = " ".join(captions(context))
    assert [words for words in drawn if words in said] == [*drawn]
    analysis = changed(
        context.analysis,
        by_load=(replace(BY_LOAD, crossings=()),),
        load_curves=(REFUSED,),
        quantile_shifts=(replace(SHIFT, band95_pct=((-12.0, -8.0), None, (40.0, 70.0))),),
    )
    said = " ".join(captions(replace(context, analysis=analysis, findings=())))
    assert not [words for words in drawn if words in said]
    assert curves.sentence("without_a_band_because", quantiles="50 %") in said


def test_checkpoints_that_cannot_be_told_apart_have_no_section(context: ReportContext) -> None:
    refused = tuple(
        CheckpointEffect(
            arm, 8, 24, 1.0, 2.0, (), (), (), None, None, None, None, None, None, SHORT
        )
        for arm in ("a1", "a2")
    )
    analysis = changed(context.analysis, checkpoint_effects=refused, checkpoint_contrasts=())
    assert not checkpoints.checkpoints.blocks(replace(context, analysis=analysis, findings=()))


def test_two_blocks_give_curves_without_a_band_and_the_reason(tmp_path: Path) -> None:
    without_band = [
        one
        for one in captions(synthetic_context(tmp_path, STEPS, blocks=2))
        if "There is no band: " in one
    ]
    assert len(without_band) == 2
