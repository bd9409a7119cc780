"""What differs between two periods by more than usual, and the experiment that would test it.

Enters: the context. Leaves: tables, an experiment file. Never: names a cause.
"""

from __future__ import annotations

from collections.abc import Iterable

from pgassay.analysis.observation.periods.model import Difference
from pgassay.findings.observation.periods import (
    change_of,
    thing_of,
    times_of,
    value_of,
)
from pgassay.findings.observation.suspects import proposal_of
from pgassay.findings.suspects import present_in
from pgassay.language import tr
from pgassay.report.charts.over_time.periods import periods_chart
from pgassay.report.context import PeriodsContext
from pgassay.report.document.blocks import Chart, Paragraph
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Table, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.sections.proposed import proposed
from pgassay.report.summaries.periods import tone_of, word_of
from pgassay.report.tables.cells import moment, tone_cell, written

sentence = texts_of(__name__)
_MOST = 40
_CHANGED = written("at_ns", "Changed (UTC)", moment, "text")


@section("periods/most", "What changed most")
def most(context: PeriodsContext) -> Blocks:
    """Lists what differs by more than usual, the largest multiple of the usual first."""
    found = context.analysis.unusual
    if not found:
        yield Paragraph(sentence("nothing"), "observed")
        return
    yield change_table(found[:_MOST], context, tr("What changed most"))
    if (more := len(found) - _MOST) > 0:
        yield Paragraph(sentence("more", more=more), "observed")
    yield Paragraph(sentence("associated"), "observed")


@section("periods/over_time", "Both periods over time")
def over_time(context: PeriodsContext) -> Blocks:
    """Draws throughput, SPEED, active sessions and what changed most in both periods."""
    if (chart := periods_chart(context.analysis)) is not None:
        label = tr("Figures of both periods over the time since each began")
        yield Chart("periods", chart, label, sentence("over_time"))


@section("periods/settings", "Settings that are not the same")
def settings(context: PeriodsContext) -> Blocks:
    """Lists the settings that differ between two observations, or were changed in the time of
    both periods."""
    columns = (
        *((_CHANGED,) if any(one.at_ns is not None for one in context.analysis.settings) else ()),
        written("name", "Setting", str, "heading"),
        written("first", "Baseline", str, "text"),
        written("second", "Compared", str, "text"),
    )
    yield view(columns, context.analysis.settings, tr("Settings that are not the same"))


@section("periods/suspect", "An experiment that tests the first suspect")
def suspect(context: PeriodsContext) -> Blocks:
    """Shows the experiment file of `--propose`."""
    yield from proposed(proposal_of(context.analysis, present_in(context.environment)))


def change_table(found: Iterable[Difference], context: PeriodsContext, label: str) -> Table:
    """Returns a row for each figure with both values, the change and what is usual."""
    analysis = context.analysis

    def figure(one: Difference) -> Cell:
        return Cell(str(one.figure.title), note=thing_of(one.figure, analysis))

    def result(one: Difference) -> Cell:
        tone = tone_of(one)
        return tone_cell(tone if tone in ("better", "worse") else word_of(one), tone)

    columns = (
        column("figure.title", "Figure", figure, "heading"),
        column("first", "Baseline", lambda one: str(value_of(one.first, one.figure))),
        column("second", "Compared", lambda one: str(value_of(one.second, one.figure))),
        column("change_pct", "Change", lambda one: str(change_of(one))),
        column("times_usual", "Of what is usual", lambda one: str(times_of(one))),
        column("", "Result", result, "text"),
    )
    return view(columns, found, label)
