"""How much runs made apart differ: the verdicts, and every metric.

Enters: the context. Leaves: a chart, tables. Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.apart.model import RunDifference
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import endpoint_title
from pgassay.findings.apart.verdicts import spread_text
from pgassay.language import Message, decimals, tr
from pgassay.report.charts.effects.apart import differences_chart
from pgassay.report.charts.style import TONES
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import Chart, Fold, Paragraph
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.table import Cell, Column, Table, numbers, table
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import (
    ABSENT,
    INTERVAL,
    change,
    interval,
    interval_of,
    means,
    result,
    tone_cell,
)

sentence = texts_of(__name__)

_COLUMNS = (
    Column(Message("Run"), "heading", merges=True),
    Column(Message("Arm"), "text", merges=True),
    Column(Message("Endpoint"), "text"),
    Column(Message("Load"), "line"),
    *numbers("Baseline", "This run", "Change", INTERVAL, "Trials", "SD between runs"),
    Column(Message("Not randomised"), "text"),
)


@section("apart/verdicts", "The difference")
def verdicts(context: ApartContext) -> Blocks:
    """The primary metric and the endpoints beside it."""
    found = verdict_table(context)
    if found and (chart := differences_chart(context.analysis)):
        caption = sentence("diamond_the_change_thin")
        label = tr("Change of every endpoint against the baseline run")
        yield Chart("differences", chart, label, caption, has_table=True)
    yield found


def verdict_table(context: ApartContext) -> Table:
    """By side, arm and load."""
    analysis = context.analysis
    judged = [
        one
        for verdict in analysis.verdicts()
        for one in (verdict, *(endpoint for endpoint, _ in analysis.beside(verdict)))
    ]
    rows = [
        _row(one, tone_cell(one.comparison.verdict.value, TONES[one.comparison.verdict]))
        for one in judged
    ]
    found = _fitted(judged, rows).without("Trials", "SD between runs")
    return replace(found, label=tr("The difference"))


@section("apart/everything", "Everything measured")
def everything(context: ApartContext) -> Blocks:
    """Every metric over whole trials."""
    found = [one for one in context.analysis.differences if one.comparison.step is None]
    rows = [_row(one, result(one.comparison)) for one in found]
    made = replace(_fitted(found, rows), label=tr("Everything measured"))
    if found:
        corrected = sentence("metrics_beside_the_primary")
        yield Fold(tr("All metrics, over whole trials"), (made, Paragraph(corrected, "observed")))


def _row(one: RunDifference, verdict: Cell) -> tuple[str | Cell, ...]:
    comparison = one.comparison
    return (
        one.side,
        one.arm,
        endpoint_title(comparison.metric),
        comparison.load,
        *means(comparison),
        change(comparison),
        Cell(interval_of(comparison), note=tr("inside runs only: {within}", within=_within(one))),
        f"{one.trials[0]} / {one.trials[1]}",
        ABSENT if one.spread is None else spread_text(one.spread, comparison),
        verdict,
    )


def _within(one: RunDifference) -> str:
    if METRICS[one.comparison.metric].unit == "%" and one.within is not None:
        return tr(" to ").join(decimals(end, "+.2f") + tr(" points") for end in one.within)
    return interval(one.within_pct)


def _fitted(found: Sequence[RunDifference], rows: Sequence[tuple[str | Cell, ...]]) -> Table:
    """Without the columns that say the same everywhere."""
    made = table(_COLUMNS, rows)
    if len({one.side for one in found}) == 1:
        made = made.without("Run")
    if not any(one.arm for one in found):
        made = made.without("Arm")
    if all(one.comparison.step is None for one in found):
        made = made.without("Load")
    return made
