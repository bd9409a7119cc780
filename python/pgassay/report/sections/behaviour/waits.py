"""Where a transaction's time goes: wait classes, wait events, statements and scenarios of each arm.

Enters: the context. Leaves: charts and tables. Never: samples or classifies waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgassay.language import decimals, tr
from pgassay.report.charts.over_time.sessions import pareto_chart, sessions_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.charts.waits import waits_chart
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Cell, Table
from pgassay.report.sections.behaviour.ranked_sessions import (
    active_sessions,
    arm_means,
    ranked_sessions,
)
from pgassay.report.tables.by_arm import arm_table
from pgassay.report.tables.time_parts import class_table

_MOST_EVENTS = 8
_FEWEST_SESSIONS = 0.005
"""Average active sessions below which an event would be shown as zero."""


@section("behaviour/waits", "Where a transaction’s time goes")
def waits(context: ReportContext) -> Content:
    """All runs have the section; it says so where no wait was sampled."""
    analysis, series = context.analysis, context.series
    styles = arm_styles(context.plan.arms)
    sampled = [(trial.arm, trial.sampled_waits) for trial in series if trial.sampled_waits]
    return {
        "chart": waits_chart(analysis, styles),
        "over_time": None
        if context.plan.alternates
        else sessions_chart(series, context.plan, styles),
        "pareto": pareto_chart(ranked_sessions(context), styles),
        "classes": class_table(context),
        "events": event_table(
            context,
            tr("Average active sessions"),
            [(trial.arm, active_sessions(trial)) for trial in series],
        ),
        "by_extension": event_table(context, tr("Average waiting sessions"), sampled),
    }


def event_table(
    context: ReportContext, title: str, trials: Sequence[tuple[str, Mapping[str, float]]]
) -> Table:
    """The largest wait events of any arm, averaged over its trials."""
    ranked = sorted(
        arm_means(context, trials).items(), key=lambda item: (-max(item[1].values()), item[0])
    )
    rows = [
        (Cell(name, style="code"), [decimals(value, ".2f") for value in values.values()])
        for name, values in ranked[:_MOST_EVENTS]
        if max(values.values()) >= _FEWEST_SESSIONS
    ]
    return arm_table(context, title, rows)
