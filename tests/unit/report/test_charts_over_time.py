"""Charts over the time of a trial: what is drawn for few trials, for many, and for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgassay.analysis.measures.courses.chart_samples import SampledCourse
from pgassay.analysis.measures.courses.chart_series import ChartSeries, Event, Span
from pgassay.analysis.measures.courses.latencies import LatencyCourse
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.plan.model import Arm
from pgassay.report.charts.over_time.happenings import happenings
from pgassay.report.charts.over_time.host import host_chart
from pgassay.report.charts.over_time.sessions import pareto_chart, sessions_chart
from pgassay.report.charts.over_time.throughput import throughput_chart, trial_axis
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.captions import happened
from pgassay.report.sections.behaviour.over_time import throughput
from pgassay.report.sections.behaviour.ranked_sessions import ranked_sessions
from pgassay.report.svg.model import Band, Box, Line, Panel, Points
from support.blocks import texts
from support.synthetic.analyses import changed
from support.synthetic.designs import plan_of_spec
from support.synthetic.directories import SPEC
from support.synthetic.report_contexts import synthetic_context

STYLES = arm_styles(
    [Arm("a1", {"x": "1"}, {"x": "postgres"}), Arm("a2", {"x": "2"}, {"x": "postgres"})]
)


def trial(number: int, arm: str, spans: Sequence[Span] = (), **more: Any) -> ChartSeries:
    seconds = tuple(at + 0.5 for at in range(60))
    values: dict[str, Any] = {"events": {}, "logged": {}, **more}
    course = LatencyCourse("latency", seconds, (2.0,) * 60)
    return ChartSeries(
        number, 1, arm, seconds, (100.0,) * 60, tuple(spans), latency=course, **values
    )


def panels_of(series: Sequence[ChartSeries]) -> list[Panel]:
    return happenings(series, STYLES, trial_axis(series))


def test_a_checkpoint_is_a_bar_in_the_row_of_its_trial_and_darkest_during_its_fsync() -> None:
    spans = [Span(-9.0, -5.0, "time"), Span(10.0, 14.0, "wal", 1.5), Span(50.0, None, "time")]
    (panel,) = panels_of([trial(1, "a1", spans), trial(2, "a2")])
    boxes = [mark for mark in panel.marks if isinstance(mark, Box) and mark.tip]
    assert [(box.x0, box.x1, box.opacity) for box in boxes] == [
        (10.0, 14.0, 0.5),
        (12.5, 14.0, 1.0),
        (50.0, 59.5, 0.5),  # until the trial ends; the first was over before it began
    ]
    assert boxes[0].tip == (
        "checkpoint (wal), 10.0 to 14.0 s, fsync 1.5 s",
        f"trial 1, {STYLES['a1'].label}",
    )
    assert len([mark for mark in panel.marks if isinstance(mark, Box) and not mark.tip]) == 2


@pytest.mark.parametrize(("trials", "every_s"), [(40, 30), (4, 0.2)])
def test_of_many_trials_or_checkpoints_the_share_under_way_is_drawn(
    trials: int, every_s: float
) -> None:
    spans = [Span(at * every_s, (at + 0.5) * every_s, "wal") for at in range(int(60 / every_s))]
    series = [trial(n, "a1" if n % 2 else "a2", spans if n % 2 else ()) for n in range(trials)]
    (panel,) = panels_of(series)
    first, second = panel.marks
    assert isinstance(first, Line)
    assert isinstance(second, Line)
    known = [value for value in first.y if value is not None]
    assert sum(known) / len(known) == pytest.approx(50, abs=3)
    assert set(second.y) == {0.0}


def test_everything_else_that_was_logged_is_one_mark_a_stretch_and_names_the_trials_pauses() -> (
    None
):
    logged = (
        Event(3.5, "failed", 2),
        Event(3.5, "error 40001", 2),
        Event(3.5, "reload", 1),  # not listed
        Event(30.5, "lock_wait", 1),
    )
    paused = trial(2, "a2", pauses=(Span(5.0, 9.0, "no samples"),))
    (panel,) = panels_of([trial(1, "a1", happened=logged), paused])
    (points,) = [mark for mark in panel.marks if isinstance(mark, Points)]
    assert len(points.x) == 2
    assert points.tips[0][:2] == ("Failed transactions: 2", "Errors, 40001: 2")
    (box,) = [mark for mark in panel.marks if isinstance(mark, Box)]
    assert (box.x0, box.x1, box.arm) == (5.0, 9.0, "a2")
    assert "pauses of sampling" in panel.y.title


def test_arms_that_are_described_have_throughput_in_panels_of_their_own(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path)
    styles = arm_styles(context.plan.arms)
    for series in (context.series, context.series[:1]):
        chart = throughput_chart(series, context.plan, styles, apart=True)
        assert chart is not None
        found = [one for one in chart.panels if one.y.title.startswith("transactions per second")]
        assert len(found) == len({trial.arm for trial in series})
        assert all(
            len({mark.arm for mark in one.marks if isinstance(mark, Line)}) == 1 for one in found
        )


def test_where_nothing_happened_there_are_no_rows_and_the_caption_says_so(tmp_path: Path) -> None:
    assert panels_of([trial(1, "a1"), trial(2, "a2")]) == []
    context = synthetic_context(tmp_path)
    chart = throughput_chart(context.series, context.plan, arm_styles(context.plan.arms))
    assert chart is not None
    titles = [panel.y.title for panel in chart.panels]
    assert titles == [
        "transactions per second",
        "99th percentile of latency, milliseconds",
        "checkpoints: a row for each trial",
        "autovacuum: a row for each trial",
        "other events in the server’s log",
    ]
    quiet = tuple(
        replace(trial, checkpoints=(), vacuums=(), happened=()) for trial in context.series
    )
    unread = tuple(replace(trial, logged=None) for trial in quiet)
    every_way = {
        sentence
        for has_rows in (True, False)
        for was_read in (True, False)
        for sentence in happened(has_rows=has_rows, log_was_read=was_read)
    }
    for series, has_rows, was_read in (
        (context.series, True, True),
        (quiet, False, True),
        (unread, False, False),
    ):
        (caption,) = texts(throughput.blocks(replace(context, series=series)))
        said = {sentence for sentence in every_way if sentence in caption}
        assert said == {*happened(has_rows=has_rows, log_was_read=was_read)}


def sampled(number: int, arm: str, scale: float) -> ChartSeries:
    course = SampledCourse(
        0,
        1.0,
        {"cpu": (scale,) * 60, "wal": (None, *(2 * scale,) * 59), "client": (9.0,) * 60},
    )
    figures = {"us": (50.0,) * 60, "wa": (0.3,) * 60, "sda/MB": (2.0 * scale,) * 60}
    return trial(number, arm, sampled=course, figures=SampledCourse(0, 1.0, figures=figures))


def test_sessions_are_stacked_on_one_scale_without_those_that_wait_for_their_client() -> None:
    series = [sampled(1, "a1", 1.0), sampled(2, "a1", 2.0), sampled(3, "a2", 1.0)]
    plan = plan_of_spec(SPEC)
    chart = sessions_chart(series, plan, STYLES)
    assert chart is not None
    assert {panel.y.high for panel in chart.panels} == {1.05 * 4.5}
    assert [name for name, _ in chart.key] == ["CPU", "WAL"]
    cpu, wal = [mark for mark in chart.panels[0].marks if isinstance(mark, Band)]
    assert (cpu.high[5], wal.low[5], wal.high[5]) == (1.5, 1.5, 4.5)
    assert (wal.name, wal.tip) == ("WAL", ("WAL: 2.95 sessions on average",))


def test_the_host_shows_a_panel_for_each_figure_that_is_not_next_to_nothing() -> None:
    series = [sampled(1, "a1", 1.0), sampled(2, "a2", 2.0)]
    plan = plan_of_spec(SPEC)
    chart = host_chart(series, plan, STYLES, {"sda": "sda (data, WAL)"})
    assert chart is not None
    assert [panel.y.title.partition(":")[0] for panel in chart.panels] == ["us", "sda (data, WAL)"]
    first, second = [mark for mark in chart.panels[1].marks if isinstance(mark, Line)]
    assert (first.y[0], second.y[0], first.unit) == (2.0, 4.0, "MB/s")
    assert host_chart([trial(1, "a1")], plan, STYLES, {}) is None


def test_bars_explain_most_sessions_and_name_what_no_statement_explains(tmp_path: Path) -> None:
    context = synthetic_context(tmp_path)
    statements, scenarios = ranked_sessions(
        replace(context, analysis=changed(context.analysis, signals=(signals_of(context),)))
    )
    assert sum(statements.totals.values()) == pytest.approx(2 * 0.7 * 8, rel=0.1)
    assert statements.rows[0][0] == "no statement, such as COMMIT"
    assert "queryid 7" in [name for name, _ in statements.rows]
    assert [name for name, _ in scenarios.rows] == ["between transactions", "refund", "pay"]
    chart = pareto_chart([statements, scenarios], arm_styles(context.plan.arms))
    assert chart is not None
    assert all(panel.x == chart.panels[0].x for panel in chart.panels)


def signals_of(context: ReportContext) -> ArmSignals:
    values = {
        ("query", "7", "CPU"): 0.5,
        ("query", "7", "Client:ClientRead"): 3.0,
        ("scenario", "pay", "CPU"): 0.2,
        ("scenario", "refund", "IO:WalSync"): 1.0,
    }
    return ArmSignals("a1", (TrialSignals(1, 1, "a1", 10.0, 100, values),))
