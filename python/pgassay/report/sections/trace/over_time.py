"""A trace over time: throughput, processes in each point, the 99th percentile, heat maps.

Enters: the context. Leaves: charts. Never: draws more points than a reader can tell apart.
"""

from __future__ import annotations

from pgassay.report.charts.over_time.trace import (
    MOST_LINES,
    heat_map,
    in_it_chart,
    p99_chart,
    throughput_chart,
)
from pgassay.report.context import TraceContext
from pgassay.report.document.section import Content, section
from pgassay.report.summaries.trace import point_name

_MOST_MAPS = 3


def _names(context: TraceContext, most: int) -> dict[tuple[str, str], str]:
    return {
        (one.point, one.key): point_name(one.point, one.key) for one in context.traced.points[:most]
    }


@section("trace/over_time", "Over time")
def over_time(context: TraceContext) -> Content | None:
    """A trace in which anything was met."""
    names = _names(context, MOST_LINES)
    if not names:
        return None
    traced = context.traced
    return {
        "throughput": throughput_chart(traced),
        "in_it": in_it_chart(traced, names),
        "p99": p99_chart(traced, names),
    }


@section("trace/heat", "How long each took, by second")
def heat(context: TraceContext) -> Content | None:
    """A heat map of the points that took most time."""
    names, traced = _names(context, _MOST_MAPS), context.traced
    maps = [
        (names[course.point, course.key], heat_map(traced, course))
        for course in traced.courses
        if (course.point, course.key) in names
    ]
    return {"maps": maps} if maps else None
