"""Where a transaction's time goes: wait classes and the largest wait events of each arm.

Enters: the context. Leaves: a chart and tables. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.analysis.measures.courses.chart_series import ChartSeries
from pgassay.report.charts.style import arm_styles
from pgassay.report.charts.waits import waits_chart
from pgassay.report.context import ReportContext
from pgassay.report.section import Content, section
from pgassay.report.tables.by_arm import arm_table
from pgassay.report.tables.table import Cell, Table
from pgassay.report.tables.time_parts import class_table

_MOST_EVENTS = 8
_FEWEST_SESSIONS = 0.005
"""Average active sessions below which an event would be shown as zero."""


@section("behaviour/waits", "Where a transaction’s time goes")
def waits(context: ReportContext) -> Content:
    """All runs have the section; it says so where no wait was sampled."""
    analysis, series = context.analysis, context.series
    sampled = [(trial.arm, trial.sampled_waits) for trial in series if trial.sampled_waits]
    return {
        "chart": waits_chart(analysis, arm_styles(context.plan.arms)),
        "classes": class_table(context),
        "events": event_table(
            context, "Average active sessions", [(trial.arm, _active(trial)) for trial in series]
        ),
        "by_extension": event_table(context, "Average waiting sessions", sampled),
    }


def _active(trial: ChartSeries) -> Mapping[str, float]:
    """Without sessions that wait for their client: the server does nothing for them."""
    return {name: value for name, value in trial.events.items() if not name.startswith("Client:")}


def event_table(
    context: ReportContext, title: str, trials: Sequence[tuple[str, Mapping[str, float]]]
) -> Table:
    """The largest wait events of any arm, averaged over its trials."""
    by_arm = {
        arm.id: [events for own, events in trials if own == arm.id] for arm in context.analysis.arms
    }
    names = {name for own in by_arm.values() for events in own for name in events}
    means = {
        name: [
            sum(events.get(name, 0.0) for events in own) / max(len(own), 1)
            for own in by_arm.values()
        ]
        for name in names
    }
    ranked = sorted(means.items(), key=lambda item: (-max(item[1]), item[0]))
    rows = [
        (Cell(name, style="code"), [f"{value:.2f}" for value in values])
        for name, values in ranked[:_MOST_EVENTS]
        if max(values) >= _FEWEST_SESSIONS
    ]
    return arm_table(context, title, rows)
