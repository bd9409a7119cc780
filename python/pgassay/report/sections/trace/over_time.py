"""A trace over time: throughput, processes in each point, the 99th percentile, heat maps.

Enters: the context. Leaves: charts. Never: draws more points than a reader can tell apart.
"""

from __future__ import annotations

from pgassay.language import tr
from pgassay.report.charts.over_time.trace import (
    MOST_LINES,
    heat_map,
    in_it_chart,
    p99_chart,
    throughput_chart,
)
from pgassay.report.context import TraceContext
from pgassay.report.document.blocks import Chart, PageOnly, note
from pgassay.report.document.section import Blocks, section
from pgassay.report.document.text import texts_of
from pgassay.report.summaries.trace import point_name

sentence = texts_of(__name__)

_MOST_MAPS = 3


def _names(context: TraceContext, most: int) -> dict[tuple[str, str], str]:
    return {
        (one.point, one.key): point_name(one.point, one.key) for one in context.traced.points[:most]
    }


@section("trace/over_time", "Over time")
def over_time(context: TraceContext) -> Blocks:
    """Shows lines by second; yields nothing where no traced point was met."""
    names, traced = _names(context, MOST_LINES), context.traced
    if not names:
        return
    if chart := throughput_chart(traced):
        caption = tr("Transactions that the server ended in each second.")
        yield Chart("throughput", chart, tr("Transactions per second"), caption)
    if chart := in_it_chart(traced, names):
        caption = tr("How many of the server’s processes were in each point at a time, on average.")
        yield Chart("in-it", chart, tr("Processes in each point"), caption)
    if chart := p99_chart(traced, names):
        caption = tr("Of a hundred times that a process was in the point, one took longer.")
        yield Chart("p99", chart, tr("99th percentile by second"), caption)
    yield PageOnly([note(tr("Shaded: checkpoints, their sync phase darker. Times are UTC."))])


@section("trace/heat", "How long each took, by second")
def heat(context: TraceContext) -> Blocks:
    """Shows a heat map of each of the points that took most time."""
    names, traced = _names(context, _MOST_MAPS), context.traced
    courses = [one for one in traced.courses if (one.point, one.key) in names]
    for number, course in enumerate(courses, 1):
        if chart := heat_map(traced, course):
            name = names[course.point, course.key]
            caption = sentence("each_row_is_a", name=name)
            label = tr("{name} by duration and second", name=name)
            yield Chart(f"heat-{number}", chart, label, caption, has_table=True)
