"""Charts over the time of a trial: what is drawn for few trials, for many, and for none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from browser.reports import synthetic_context
from pgassay.analysis.measures.courses.chart_latencies import LatencyCourse
from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.analysis.measures.courses.chart_spans import Event, Span
from pgassay.plan.model import Arm
from pgassay.report.charts.happenings import happenings
from pgassay.report.charts.style import arm_styles
from pgassay.report.charts.throughput import throughput_chart, trial_axis
from pgassay.report.html import render_html
from pgassay.report.svg.model import Box, Line, Panel, Points

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
    assert boxes[0].tip.startswith("checkpoint (wal), 10.0 to 14.0 s, fsync 1.5 s\ntrial 1")
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
    assert points.tips[0].startswith("Failed transactions: 2\nErrors, 40001: 2\n")
    (box,) = [mark for mark in panel.marks if isinstance(mark, Box)]
    assert (box.x0, box.x1, box.arm) == (5.0, 9.0, "a2")
    assert "pauses of sampling" in panel.y.title


def test_where_nothing_happened_there_are_no_rows(tmp_path: Path) -> None:
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
    assert "when autovacuum ran" in render_html(context)
