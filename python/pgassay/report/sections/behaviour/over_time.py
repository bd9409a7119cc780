"""The course of trials: throughput and latency by second, and what changes together with them.

Enters: the context. Leaves: a chart, sentences, a table.
Never: smooths, or calls an association a cause.
"""

from __future__ import annotations

from pgassay.analysis.curves.model import NOT_STEADY, Steadiness
from pgassay.language import Message, decimals, tr
from pgassay.notes import Note
from pgassay.quantities import correlation
from pgassay.report.charts.over_time.throughput import has_rows, throughput_chart
from pgassay.report.charts.style import arm_styles
from pgassay.report.context import ReportContext
from pgassay.report.document.blocks import Chart, Fold, note
from pgassay.report.document.captions import arm_key, happened
from pgassay.report.document.section import Blocks, Summary, section, summed_up
from pgassay.report.document.table import Column, numbers, table
from pgassay.report.document.text import joined, texts_of
from pgassay.report.svg.draw import shows_zero
from pgassay.report.tables.cells import probability

sentence = texts_of(__name__)

_ASSOCIATIONS = (
    Column(Message("Series"), "text"),
    *numbers("It changes earlier by", "Correlation", "95\u00a0% interval", "Adjusted p"),
)
_MOST_SHOWN = 12
"""Associations that are open on the page, the strongest first; the others are folded."""


@section("behaviour/throughput", "Throughput and latency, second by second")
def throughput(context: ReportContext) -> Blocks:
    """Shows every trial over time; yields nothing where no trial has a whole second, or of a query
    set, whose trials go as the queries that happen to run."""
    plan = context.plan
    chart = throughput_chart(
        context.series, plan, arm_styles(plan.arms), apart=bool(plan.describes)
    )
    if chart is None or plan.queries is not None:
        return
    has_latency = any(panel.y.kind == "log" for panel in chart.panels)
    caption = joined(
        sentence("thin_lines_one_trial")
        if has_latency
        else tr("Thin lines: one trial each. Thick lines: the mean throughput of an arm’s trials."),
        not shows_zero(chart.panels[0]) and tr("The axis of throughput does not start at zero."),
        has_latency and tr("The axis of latency is logarithmic."),
        *happened(
            has_rows=has_rows(chart),
            log_was_read=any(trial.logged is not None for trial in context.series),
        ),
        len(plan.arms) > 1 and tr("Press an arm’s name to hide it."),
    )
    yield _steadiness(context)
    yield arm_key(context)
    yield Chart("throughput", chart, tr("Throughput and latency of every trial over time"), caption)


def _steadiness(context: ReportContext) -> Summary:
    """Counts the trials, and those that were not steady; of too short ones that is not known."""
    courses = context.analysis.behaviour.courses
    trials = Note.of("report/sections/trials", n=len(context.series))
    unsteady = {one.trial for one in courses if one.course in NOT_STEADY}
    if unsteady:
        how = Note.of("report/sections/not-steady", n=len(unsteady))
    elif courses and all(one.course is Steadiness.STEADY for one in courses):
        how = Note("report/sections/all-steady")
    else:
        return Summary(trials)
    return summed_up("report/sections/of", unusual=unsteady, what=trials, how=how)


@section("behaviour/associations", "What changes together inside trials")
def associations(context: ReportContext) -> Blocks:
    """Shows the associations that remain after correction."""
    looked = context.analysis.behaviour.associations
    if looked is None or not looked.found:
        return
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
    yield summed_up("report/sections/associated", unusual=True, n=len(rows), series=looked.series)
    yield table(_ASSOCIATIONS, rows[:_MOST_SHOWN])
    if more := rows[_MOST_SHOWN:]:
        yield Fold(tr("{n} more series", n=len(more)), [table(_ASSOCIATIONS, more)])
    yield note(
        sentence("correlation_with_second_by", of=of, series=looked.series, n=len(looked.lags_s))
    )
