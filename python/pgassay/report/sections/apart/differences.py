"""How much runs made apart differ: the verdicts, and every metric.

Enters: the context. Leaves: a chart, tables. Never: decides a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgassay.analysis.apart.model import RunDifference
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.endpoints import endpoint_title
from pgassay.findings.apart.verdicts import spread_of
from pgassay.language import Message, decimals, tr
from pgassay.report.charts.effects.apart import differences_chart
from pgassay.report.charts.style import TONES
from pgassay.report.context import ApartContext
from pgassay.report.document.blocks import Chart, PageOnly, Paragraph
from pgassay.report.document.section import Blocks, differing, section
from pgassay.report.document.table import Cell, Column, Table, column, view
from pgassay.report.document.text import texts_of
from pgassay.report.tables.cells import (
    ABSENT,
    CHANGE,
    INTERVAL,
    LOAD,
    MEANS,
    RESULT,
    inside,
    interval,
    interval_of,
    verdict_column,
    written,
)

sentence = texts_of(__name__)


def _columns(result: Column) -> tuple[Column, ...]:
    return (
        written("side", "Run", str, "heading", merges=True),
        written("arm", "Arm", str, "text", merges=True),
        *inside("comparison", (_ENDPOINT, LOAD, MEANS[0], _MEAN, CHANGE[0])),
        column("comparison.ci95_pct", INTERVAL, _interval),
        column("trials", "Trials", lambda one: f"{one.trials[0]} / {one.trials[1]}"),
        column("spread", "SD between runs", _spread),
        *inside("comparison", (result,)),
    )


_ENDPOINT = written("metric", "Endpoint", endpoint_title, "text")
_MEAN = replace(MEANS[1], title=Message("This run"))
_NOT_RANDOMISED = Message("Not randomised")


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
    """Returns the table of judged differences, by side, arm and load."""
    judged = context.analysis.judged()
    found = _table(tr("The difference"), judged, verdict_column(TONES, _NOT_RANDOMISED))
    return found.only_if(trials=False, spread=False)


@section("apart/everything", "Everything measured")
def everything(context: ApartContext) -> Blocks:
    """Shows the difference in every metric over whole trials."""
    found = [one for one in context.analysis.differences if one.comparison.step is None]
    made = _table(tr("Everything measured"), found, replace(RESULT, title=_NOT_RANDOMISED))
    if found:
        differ = {one.comparison.metric for one in found if one.comparison.clear}
        yield differing(
            "report/sections/figures", len({one.comparison.metric for one in found}), len(differ)
        )
        yield PageOnly([made])
        yield Paragraph(sentence("metrics_beside_the_primary"), "observed")


def _interval(one: RunDifference) -> Cell:
    inside = tr("inside runs only: {within}", within=_within(one))
    return Cell(interval_of(one.comparison), note=inside)


def _spread(one: RunDifference) -> str:
    return ABSENT if one.spread is None else str(spread_of(one.spread, one.comparison))


def _within(one: RunDifference) -> str:
    if METRICS[one.comparison.metric].unit == "%" and one.within is not None:
        return tr(" to ").join(decimals(end, "+.2f") + tr(" points") for end in one.within)
    return interval(one.within_pct)


def _table(label: str, found: Sequence[RunDifference], result: Column) -> Table:
    """Without the columns that say the same everywhere."""
    made = view(_columns(result), found, label)
    several_loads = any(one.comparison.step is not None for one in found)
    return made.only_if(
        side=len({one.side for one in found}) > 1,
        arm=any(one.arm for one in found),
        **{"comparison.step": several_loads},
    )
