"""The levels of each metric over the runs, and the changes between them.

Enters: the context. Leaves: charts, tables. Never: names a cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pgassay.analysis.apart.model import ConditionDifference
from pgassay.analysis.history.model import Change
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.history.levels import interval_of, place_of, size_of
from pgassay.findings.wording import quantity
from pgassay.language import clauses, tr
from pgassay.quantities import spaced
from pgassay.report.charts.over_time.history import series_chart
from pgassay.report.context import HistoryContext
from pgassay.report.document.blocks import Chart, PageOnly, Paragraph
from pgassay.report.document.section import Blocks, section, summed_up
from pgassay.report.document.table import Table, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.summaries.apart import condition_values
from pgassay.report.summaries.history import tone_of
from pgassay.report.tables.cells import ABSENT, INTERVAL, tone_cell, written

sentence = texts_of(__name__)


@section("history/over_time", "Over time")
def over_time(context: HistoryContext) -> Blocks:
    """Draws the primary metric and the endpoints of each arm over the runs."""
    for at, one in enumerate(context.analysis.main):
        caption = sentence("each_point_is_a_run") if at == len(context.analysis.main) - 1 else ""
        title = METRICS[one.metric].title
        label = f"{title}, {one.arm}" if one.arm else str(title)
        yield Chart(f"history-{at}", series_chart([one], context.analysis), label, caption)


@section("history/changes", "What changed, and when")
def changes(context: HistoryContext) -> Blocks:
    """Lists the changes of the primary metric and of the endpoints, the latest first."""
    main = {id(change) for one in context.analysis.main for change in one.changes}
    found = [change for change in context.analysis.changes if id(change) in main]
    if found:
        yield change_table(found, context)
        yield Paragraph(sentence("what_else_changed"), "observed")
    else:
        yield Paragraph(sentence("no_change"), "observed")


@section("history/beside", "Changes of the metrics beside them")
def beside(context: HistoryContext) -> Blocks:
    """Lists the changes of all other metrics."""
    found = beside_main(context)
    yield summed_up("report/sections/changes", n=len(found), unusual=found)
    if found:
        yield PageOnly([change_table(found, context)])
        yield Paragraph(sentence("metrics_beside"), "observed")


def beside_main(context: HistoryContext) -> list[Change]:
    """Returns the changes of the metrics that are neither the primary one nor endpoints."""
    main = {id(change) for one in context.analysis.main for change in one.changes}
    return [change for change in context.analysis.changes if id(change) not in main]


def change_table(found: Iterable[Change], context: HistoryContext) -> Table:
    """Returns a row for each change, with what else changed then."""
    runs = context.analysis.runs

    def value(change: Change, name: str) -> str:
        return quantity(getattr(change, name), METRICS[change.metric])

    def word(change: Change) -> Any:
        words = {"better": tr("better"), "worse": tr("worse"), "same": tr("small")}
        tone = tone_of(change, context)
        return tone_cell(words.get(tone, tr("changed")), tone)

    columns = (
        written("first", "Since", lambda at: runs[at].name, "heading", merges=True),
        column("", "Begun", lambda one: str(place_of(one, context.analysis)), "text", merges=True),
        written("arm", "Arm", str, "text"),
        written("metric", "Metric", lambda name: METRICS[name].title, "text"),
        column("before", "Before", lambda one: value(one, "before")),
        column("after", "After", lambda one: value(one, "after")),
        column("change.value", "Change", lambda one: str(size_of(one))),
        column("", INTERVAL, lambda one: str(interval_of(one, context.analysis))),
        column("", "Result", word, "text"),
        written("conditions", "What else changed", _conditions, "text", merges=True),
    )
    return view(columns, found, tr("What changed, and when")).only_if(
        arm=bool(context.analysis.arms)
    )


_MOST = 6
"""Conditions that one row names; the rest are counted."""


def _conditions(found: tuple[ConditionDifference, ...]) -> str:
    if not found:
        return tr("nothing that the runs recorded")
    named = [_condition(one) for one in found[:_MOST]]
    if more := len(found) - _MOST:
        named.append(tr("{n} more", n=str(more)) if more > 0 else "")
    return clauses(filter(None, named)) or ABSENT


def _condition(one: ConditionDifference) -> str:
    before, after = condition_values(one, lambda size: spaced(size, 0))
    return f"{one.name}: {before} → {after}"
