"""The course of trials: throughput and latency by second, and what changes together with them.

Enters: the context. Leaves: a chart, sentences, a table.
Never: smooths, or calls an association a cause.
"""

from __future__ import annotations

from pgassay.findings.wording import correlation
from pgassay.language import Message, decimals, tr
from pgassay.report.charts.over_time.throughput import has_rows, throughput_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.section import Content, section
from pgassay.report.document.table import Column, table
from pgassay.report.svg.draw import shows_zero
from pgassay.report.tables.cells import probability

_ASSOCIATIONS = (
    Column(Message("Series"), "text"),
    *map(
        Column,
        map(Message, ("It changes earlier by", "Correlation", "95\u00a0% interval", "Adjusted p")),
    ),
)
_MOST_SHOWN = 12
"""Associations that are open on the page, the strongest first; the others are folded."""


@section("behaviour/throughput", "Throughput and latency, second by second")
def throughput(context: ReportContext) -> Content | None:
    """Trials that have at least one second."""
    plan = context.plan
    chart = throughput_chart(context.series, plan, arm_styles(plan.arms))
    if chart is None:
        return None
    return {
        "chart": chart,
        "has_rows": has_rows(chart),
        "has_latency": any(panel.y.kind == "log" for panel in chart.panels),
        "shows_zero": shows_zero(chart.panels[0]),
        "log_was_read": any(trial.logged is not None for trial in context.series),
    }


@section("behaviour/associations", "What changes together inside trials")
def associations(context: ReportContext) -> Content | None:
    """The associations that remain after correction."""
    looked = context.analysis.associations
    if looked is None or not looked.found:
        return None
    rows = [
        (
            one.series,
            tr("{value} s", value=decimals(one.lag_s, "+.0f")) if one.lag_s else tr("0 s"),
            correlation(one.correlation),
            tr(
                "{low} to {high}",
                low=correlation(one.ci95[0]),
                high=correlation(one.ci95[1]),
            ),
            probability(one.p_adjusted),
        )
        for one in looked.found
    ]
    of = tr("latency") if looked.found[0].with_ == "latency_mean" else tr("throughput")
    return {
        "sentences": context.sentences("associations"),
        "strongest": table(_ASSOCIATIONS, rows[:_MOST_SHOWN]),
        "more": table(_ASSOCIATIONS, rows[_MOST_SHOWN:]),
        "of": of,
        "looked": looked,
    }
